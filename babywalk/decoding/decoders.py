"""Decoders: how actions are chosen from scores. Search has the same interface.

trajectories = Greedy().decode(rollout, batch)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from babywalk.common.errors import BabyWalkError
from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.decoding.rollout import Rollout, Walkers
from babywalk.modules.decoder import Decision
from babywalk.navigation.trajectories import Trajectories


class NonFiniteError(BabyWalkError, FloatingPointError):
    """Logits that contain NaN."""

    def __init__(self) -> None:
        super().__init__("the logits contain NaN")


class Decoder(Protocol):
    """Turns the scores of a network into trajectories."""

    def decode(self, rollout: Rollout, batch: EpisodeBatch) -> Trajectories:
        """One trajectory per episode of a batch."""
        ...


class StepwiseDecoder(ABC):
    """Chooses one action at a time, and never takes one back."""

    @abstractmethod
    def __call__(self, decision: Decision, walkers: Walkers) -> Tensor:
        """The actions (B,) of walkers."""

    def decode(self, rollout: Rollout, batch: EpisodeBatch) -> Trajectories:
        """One trajectory per episode of a batch."""
        return rollout.run(batch, self).trajectories()


class Greedy(StepwiseDecoder):
    """The action with the highest score."""

    def __call__(self, decision: Decision, walkers: Walkers) -> Tensor:  # noqa: ARG002
        """(B,) actions."""
        if decision.logits.isnan().any():
            raise NonFiniteError
        return decision.logits.argmax(dim=1)


@dataclass(frozen=True, slots=True)
class Sample(StepwiseDecoder):
    """An action drawn from softmax(logits / temperature)."""

    temperature: float = 1.0

    def __call__(self, decision: Decision, walkers: Walkers) -> Tensor:  # noqa: ARG002
        """(B,) actions."""
        probabilities = (decision.logits / self.temperature).softmax(dim=1)
        if probabilities.isnan().any():
            raise NonFiniteError
        return torch.multinomial(probabilities, 1)[:, 0]
