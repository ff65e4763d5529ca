"""What a stage of training is: it turns an iteration number into a loss.

Every draw depends on the seed, the stage and the iteration alone, so that a resumed run gives the same
weights as an uninterrupted one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.decoding.rollout import Rollout
from babywalk.modules.speaker import Speaker
from babywalk.navigation.teacher import Teacher
from babywalk.training.config import TrainingConfig


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSetup:
    """What the stages of a run share."""

    config: TrainingConfig
    rollout: Rollout
    teacher: Teacher
    # Tasks, TASK or TASK:SPLIT, in steps of each of these sizes. An empty name is the task of the run.
    episodes: Callable[[Sequence[str], Sequence[int]], Sequence[EpisodeBatches]]
    speaker: Callable[[], Speaker] | None = None  # loaded on demand, for the cycle reward


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss and its weight in the sum that is minimised."""

    value: Tensor
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class IterationResult:
    """The losses of one iteration by name, and what else to log."""

    losses: Mapping[str, Loss]
    measured: Mapping[str, float] = field(default_factory=dict)
    reward: float | None = None  # what the baseline is the mean of; None without rewards
    decisions: int = 0  # weight of `reward` in a cumulative baseline; 0 for a running one

    @property
    def loss(self) -> Tensor:
        """The weighted sum."""
        first, *others = (
            loss.value if loss.weight == 1 else loss.weight * loss.value for loss in self.losses.values()
        )
        return sum(others, start=first)

    @property
    def report(self) -> dict[str, float]:
        """The sum as "loss", what was measured, and each of several losses without its weight."""
        with torch.no_grad():
            each = {name: float(loss.value) for name, loss in self.losses.items()}
            return {"loss": float(self.loss), **self.measured, **(each if len(each) > 1 else {})}


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
