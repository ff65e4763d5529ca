"""Decoders: how actions are chosen from scores. Search has the same interface.

trajectories = Greedy().decode(rollout, batch)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from babywalk.common.config import check_positive
from babywalk.common.errors import BabyWalkError
from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.decoding.rollout import Rollout, RolloutResult, Walkers
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

    def decode_all(self, rollout: Rollout, batches: Sequence[EpisodeBatch]) -> list[Trajectories]:
        """One trajectory per episode of each batch; batches that are compared with each other go together."""
        ...

    def decisions(self, rollout: Rollout, batch: EpisodeBatch) -> tuple[RolloutResult, Trajectories]:
        """The decisions along the chosen paths of a batch, and the trajectories with all walking."""
        ...


class StepwiseDecoder(ABC):
    """Chooses one action at a time, and never takes one back."""

    @abstractmethod
    def __call__(self, decision: Decision, walkers: Walkers) -> Tensor:
        """The actions (B,) of walkers."""

    def run(self, rollout: Rollout, batch: EpisodeBatch) -> RolloutResult:
        """All decisions for a batch."""
        return rollout.run(batch, self)

    def decode_all(self, rollout: Rollout, batches: Sequence[EpisodeBatch]) -> list[Trajectories]:
        """One trajectory per episode of each batch."""
        return [self.decode(rollout, batch) for batch in batches]

    def decode(self, rollout: Rollout, batch: EpisodeBatch) -> Trajectories:
        """One trajectory per episode of a batch."""
        return self.run(rollout, batch).trajectories()

    def decisions(self, rollout: Rollout, batch: EpisodeBatch) -> tuple[RolloutResult, Trajectories]:
        """All decisions for a batch, and the trajectories."""
        result = self.run(rollout, batch)
        return result, result.trajectories()


@dataclass(frozen=True, slots=True)
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
    seed: int | None = None  # of each batch; None: draws go on from those before

    def __post_init__(self) -> None:
        check_positive(self, "temperature")

    def run(self, rollout: Rollout, batch: EpisodeBatch) -> RolloutResult:
        """All decisions for a batch."""
        if self.seed is None:
            return rollout.run(batch, self)
        with torch.random.fork_rng():
            torch.manual_seed(self.seed)
            return rollout.run(batch, self)

    def __call__(self, decision: Decision, walkers: Walkers) -> Tensor:  # noqa: ARG002
        """(B,) actions."""
        probabilities = (decision.logits / self.temperature).softmax(dim=1)
        if probabilities.isnan().any():
            raise NonFiniteError
        return torch.multinomial(probabilities, 1)[:, 0]
