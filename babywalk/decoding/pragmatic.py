"""Pragmatic inference (Fried et al. 2018): what a speaker would say of each path decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from babywalk.common.config import check_fraction
from babywalk.decoding.best_first import StateFactored
from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.decoding.rollout import Rollout
from babywalk.decoding.search import best_of_each, speaker_scores
from babywalk.decoding.search_tree import Candidates
from babywalk.navigation.trajectories import Trajectories


@dataclass(frozen=True, kw_only=True)
class Pragmatic(StateFactored):
    """Candidates of state-factored search, re-ranked by speaker and follower.

    The score of a path r for an instruction d is

        weight * log P_S(d | r) / sigma_S + (1 - weight) * log P_F(r | d) / sigma_F

    where sigma_S and sigma_F are the standard deviations over the candidates of all instructions that are
    walked together.
    """

    weight: float = 0.95  # of the speaker, lambda in the paper

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction(self, "weight")

    @property
    def needs_speaker(self) -> bool:
        """Always."""
        return True

    def base_scores(self, candidates: Sequence[Candidates], rollout: Rollout) -> list[Tensor]:
        """(Q,) of each batch."""
        speaker = [speaker_scores(some, rollout)[0] for some in candidates]
        follower = [some.log_probability for some in candidates]
        by_speaker, by_follower = self.weight / _deviation(speaker), (1 - self.weight) / _deviation(follower)
        return [by_speaker * one + by_follower * two for one, two in zip(speaker, follower, strict=True)]

    def decode_all(self, rollout: Rollout, batches: Sequence[EpisodeBatch]) -> list[Trajectories]:
        """One trajectory per episode of each batch; the deviations are over all of them."""
        if self.per_step:
            return super().decode_all(rollout, batches)
        explored = [self.explore_whole(rollout, batch) for batch in batches]
        scores = self.scores([candidates for *_, candidates in explored], rollout)
        found = []
        for (walking, walkers, candidates), score in zip(explored, scores, strict=True):
            walking.commit(walkers, candidates.walked_by(best_of_each(candidates.walker, score)))
            found.append(walking.trajectories())
        return found


def _deviation(scores: list[Tensor]) -> float:
    """The standard deviation of all scores; 1 if they are equal."""
    deviation = float(torch.cat(scores).std(correction=0))
    return deviation if deviation > 0 else 1.0
