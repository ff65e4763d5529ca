"""Searches with scores that are made by hand, and every path of a small house by brute force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from square import leading, square_batches, square_model, square_observer, square_task
from torch import Tensor

from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.decoding.rollout import Rollout, RolloutResult, Walkers
from babywalk.decoding.search import take_again
from babywalk.episodes.task import Task
from babywalk.modules.decoder import Decision
from babywalk.navigation.history import History
from babywalk.navigation.trajectories import Trajectories
from babywalk.navigation.world import STOP, Poses

TASK = square_task()
NO_SCORE = -30.0


Table = Mapping[int, Mapping[int, float]]


class HandMade(Rollout):
    """Scores actions by a table: logits by viewpoint and the viewpoint that an action leads to.

    The logit of STOP is that of the viewpoint itself; those that are not given are very low. Several tables
    are those of the Baby-Steps, in order.
    """

    def __init__(
        self, *tables: Table, progress: Mapping[int, float] | None = None, task: Task = TASK
    ) -> None:
        observer = square_observer(task)
        super().__init__(square_model(observer).network.eval(), observer)
        logits = torch.full((len(tables), *observer.world.target.shape), NO_SCORE)
        for table, scores in zip(logits, tables, strict=True):
            for at, score_to in scores.items():
                for to, score in score_to.items():
                    table[at, leading(task.houses, at, to)] = score
        self.logits = logits.masked_fill(~observer.world.possible, -torch.inf)
        self.progress = None if progress is None else torch.tensor([progress.get(n, 0.0) for n in range(5)])
        self.looked: list[list[int]] = []  # the viewpoints of each call, one per walker

    def decide(self, walkers: Walkers) -> Decision:
        at = walkers.poses.viewpoint
        self.looked.append(at.tolist())
        nothing = torch.zeros(len(at), 1)
        progress = None if self.progress is None else self.progress[at]
        logits = self.logits[walkers.row.clamp(max=len(self.logits) - 1), at]
        return Decision(logits, walkers.state, nothing, nothing, progress)


def one_step(episodes: Sequence[int] = (0,), *, max_moves: int = 4, task: Task = TASK) -> EpisodeBatch:
    """The first Baby-Steps alone: episode 0 starts at 0, episode 1 at 3."""
    some = np.array(episodes)
    batches = replace(square_batches(task), max_moves=max_moves)
    return batches.batch(some, np.zeros_like(some), np.ones_like(some))


def whole(episodes: Sequence[int], *, max_moves: int) -> EpisodeBatch:
    """All Baby-Steps: three of episode 0, one of episode 1."""
    return replace(square_batches(TASK), max_moves=max_moves).full(np.array(episodes))


def walked(trajectories: Trajectories) -> list[list[int]]:
    return [row.tolist() for row in (trajectories.viewpoints[number] for number in range(len(trajectories)))]


def rows(trajectories: Trajectories) -> list[tuple[list[int], list[int]]]:
    """Viewpoints and views."""
    return [
        (trajectories.viewpoints[number].tolist(), trajectories.views[number].tolist())
        for number in range(len(trajectories))
    ]


def all_action_sequences(episode: int, *, max_moves: int) -> list[list[int]]:
    """Every way through all Baby-Steps of an episode of the square."""
    world = square_observer(TASK).world
    batch = whole([episode], max_moves=max_moves)
    steps = int(batch.first_step[1])

    def ways(at: int, step: int, moves: int) -> list[list[int]]:
        if step == steps:
            return [[]]
        found = []
        for action in world.possible[at].nonzero()[:, 0].tolist():
            to = int(world.target[at, action])
            ends = action == STOP or moves + 1 == max_moves
            rest = ways(to, step + 1, 0) if ends else ways(to, step, moves + 1)
            found += [[action, *way] for way in rest]
        return found

    return ways(int(batch.start.viewpoint[0]), 0, 0)


def take_all(rollout: Rollout, episode: int, sequences: list[list[int]], *, max_moves: int) -> RolloutResult:
    """Ordinary rollouts that take given actions, one walker for each sequence."""
    batch = whole([episode] * len(sequences), max_moves=max_moves)
    actions = torch.tensor([action for sequence in sequences for action in sequence])
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    start = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
    path = History(Poses(actions, actions), actions, start)
    with rollout.inference():
        return rollout.run(batch, take_again([(torch.arange(len(sequences)), path)], len(sequences)))


def sums(result: RolloutResult, count: int) -> dict[str, Tensor]:
    """(count,) the sums of logits and log-probabilities of the actions of each walker."""
    found = {"logit": torch.zeros(count), "log_probability": torch.zeros(count)}
    for record in result.records:
        logits = record.decision.logits
        for name, values in (("logit", logits), ("log_probability", logits.log_softmax(dim=1))):
            found[name][record.walkers] += values.gather(1, record.actions[:, None])[:, 0]
    return found


def small_rollout(kernels: str = "auto", **options: Any) -> Rollout:
    """An untrained network with large weights, so that its scores depend on what was done before."""
    from square import with_large_weights

    observer = square_observer(TASK)
    network = with_large_weights(square_model(observer, **options).network)
    return Rollout(network, observer, kernels=kernels)
