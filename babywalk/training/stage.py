"""What a stage of training is: it turns an iteration number into a loss.

Every draw depends on the seed, the stage and the iteration alone, so that a resumed run gives the same
weights as an uninterrupted one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.decoding.rollout import Rollout
from babywalk.navigation.teacher import Teacher
from babywalk.training.config import TrainingConfig


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSetup:
    """What the stages of a run share."""

    config: TrainingConfig
    rollout: Rollout
    teacher: Teacher
    imitation_tasks: Sequence[EpisodeBatches]  # iterations alternate between them
    reinforcement_tasks: Sequence[EpisodeBatches]  # likewise


@dataclass(frozen=True, slots=True)
class IterationResult:
    """The loss of one iteration and what to log of it."""

    loss: Tensor
    report: dict[str, float]
    reward: float | None = None  # what the baseline is the mean of; None without rewards
    decisions: int = 0  # weight of `reward` in a cumulative baseline; 0 for a running one


class Stage(Protocol):
    """One stage of a run, with its own optimiser."""

    name: str
    iterations: int
    learning_rate: float
    weight_decay: float
    warm_up: int  # iterations over which the learning rate rises
    decay_from: float  # fraction of the iterations after which it falls to zero
    clip: float  # of the gradient's norm
    clip_apart: bool  # text encoder and the rest of the network each for itself

    def iterate(self, iteration: int, baseline: float | None) -> IterationResult:
        """The loss of one iteration; `baseline` is the mean of rewards so far, None before the first."""
        ...
