"""Walkers: the state of a batch of walks, and one step of it. One environment is a batch of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.common.errors import ConfigError
from babywalk.common.ragged import Ragged, starts
from babywalk.navigation.gym.arena import Arena
from babywalk.navigation.gym.rewards import REWARDS, EpisodeOutcome, Floats
from babywalk.navigation.measures import MEASURES, Pairs
from babywalk.navigation.world import STOP, Poses, poses_at

Index = NDArray[np.integer[Any]]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class EnvStep:
    """What a step brought. Shapes: B walkers, zero or False for those that did not step."""

    rewards: Floats  # (B,)
    terminated: Flags  # (B,) True where the walker chose STOP
    truncated: Flags  # (B,) True where it has had all its steps, and has not chosen STOP
    measures: dict[str, Floats]  # (B,) each measure, zero where the walk goes on; empty without goals

    @property
    def ended(self) -> Flags:
        """(B,) True where the walk is over."""
        return self.terminated | self.truncated


class Walkers:
    """B walks in progress. Rows are started and stepped together or apart; nothing returned is kept.

    Shapes: B walkers, K of them, T steps at most, R viewpoints of the longest reference, A actions, L words.
    """

    def __init__(self, arena: Arena, count: int) -> None:
        if count < 1:
            raise ConfigError(f"num_envs = {count} cannot work; expected 1 or more.")
        self.arena = arena
        self.episode = np.zeros(count, dtype=np.int64)  # (B,)
        self.steps = np.zeros(count, dtype=np.int64)  # (B,) taken so far
        self.poses = poses_at(np.zeros(count), np.zeros(count))
        # Where each walker has been. Standing still is no part of a path: it would lower nDTW.
        self.trail = np.zeros((count, arena.settings.steps + 1), dtype=np.int32)  # (B, T + 1)
        self.visited = np.zeros(count, dtype=np.int64)  # (B,) how much of the trail is filled
        self.reference = np.zeros((count, arena.task.paths.lengths.max(initial=1)), dtype=np.int64)  # (B, R)
        self.described = np.ones(count, dtype=np.int64)  # (B,) viewpoints of each reference
        self._due = np.zeros(count, dtype=np.int64)  # (B,) how far the reference has been followed
        self._advice = np.zeros(count, dtype=np.int64)  # (B,) the teacher's action here
        self._tokens = np.zeros((count, arena.settings.words), dtype=np.int32)  # (B, L)
        self._length = np.zeros(count, dtype=np.int64)  # (B,)
        self._texts = np.full(count, "", dtype=object)  # (B,)
        self._ids = np.full(count, "", dtype=object)  # (B,)

    def __len__(self) -> int:
        return len(self.episode)

    @property
    def run_config(self) -> bool:
        """Whether every walker has been put somewhere."""
        return bool(self.visited.all())

    @property
    def distance(self) -> NDArray[np.float64]:
        """(B,) metres to the goal."""
        goal = self.reference[np.arange(len(self)), self.described - 1]
        return self.arena.houses.distance(self.poses.viewpoint, goal)

    def start(self, rows: Index, episodes: Index) -> None:
        """Put K walkers at the starts of K episodes."""
        if not len(rows):
            return
        task = self.arena.task
        chain = task.chain_of(episodes)
        paths = task.paths.take(chain)
        poses = poses_at(paths.firsts, task.walks.headings[task.chain[chain, 0]])
        references = paths.padded(fill=0)
        self.episode[rows], self.steps[rows] = episodes, 0
        self.poses.viewpoint[rows], self.poses.view[rows] = poses.viewpoint, poses.view
        self.trail[rows, 0], self.visited[rows] = poses.viewpoint, 1
        self.reference[rows, : references.shape[1]], self.described[rows] = references, paths.lengths
        self._tokens[rows], self._length[rows] = self.arena.words(episodes)
        self._texts[rows] = self.arena.instructions(episodes)
        self._ids[rows] = task.ids(episodes)
        self._due[rows] = 0
        self._consult(rows)

    def step(self, rows: Index, actions: Index) -> EnvStep:
        """Let K walkers act; one whose action is not possible there stays put, and has used a step."""
        self._check(actions)
        before = self.distance
        poses = self.arena.world.step(self.poses[rows], actions)
        self._move(rows, poses)
        terminated, truncated = np.zeros((2, len(self)), dtype=bool)
        terminated[rows] = actions == STOP
        truncated[rows] = (self.steps[rows] >= self.arena.settings.steps) & (actions != STOP)
        rewards: Floats = np.zeros(len(self))
        measures = self._measures(np.flatnonzero(terminated | truncated))
        if measures:
            outcome = EpisodeOutcome(before - self.distance, terminated, measures)
            rewards = REWARDS[self.arena.settings.reward](outcome)
        return EnvStep(rewards, terminated, truncated, measures)

    def observe(self) -> dict[str, Any]:
        """What each walker is shown, keyed as the observation space."""
        return {
            "views": self.arena.observer.views(self.poses),
            "candidates": self.arena.observer.candidates(self.poses),
            "mask": self._mask(),
            "tokens": self._tokens.copy(),
            "length": self._length.copy(),
            "instruction": tuple(self._texts.tolist()),
        }

    def inform(self) -> dict[str, NDArray[Any]]:
        """(B,) and (B, A) what else is known of each walker and no agent should rest on."""
        told: dict[str, NDArray[Any]] = {
            "action_mask": self._mask(),
            "id": self._ids.copy(),
            "viewpoint": self.arena.names[self.poses.viewpoint],
        }
        if self.arena.teacher is not None:
            told["teacher_action"] = self._advice.copy()
            told["distance"] = self.distance
        return told

    def _mask(self) -> NDArray[np.int8]:
        """(B, A) 1 where an action is possible, as Gymnasium's `sample(mask)` wants it."""
        possible: NDArray[np.int8] = self.arena.world.possible[self.poses.viewpoint].astype(np.int8)
        return possible

    def _move(self, rows: Index, poses: Poses) -> None:
        moved = rows[poses.viewpoint != self.poses.viewpoint[rows]]
        self.poses.viewpoint[rows], self.poses.view[rows] = poses.viewpoint, poses.view
        self.steps[rows] += 1
        self.trail[moved, self.visited[moved]] = self.poses.viewpoint[moved]
        self.visited[moved] += 1
        self._consult(rows)

    def _consult(self, rows: Index) -> None:
        """Ask the teacher, who follows the reference, once per step: asking moves on what is due."""
        if self.arena.teacher is not None:
            self._advice[rows], self._due[rows] = self.arena.teacher.along(
                self.poses.viewpoint[rows], self.reference[rows], self.described[rows], self._due[rows]
            )

    def _measures(self, ended: Index) -> dict[str, Floats]:
        """(B,) every measure, of the given walkers alone."""
        if self.arena.teacher is None:
            return {}
        table = np.zeros((len(MEASURES), len(self)))
        if len(ended):
            walked = _rows(self.trail[ended], self.visited[ended])
            described = _rows(self.reference[ended], self.described[ended])
            pairs = Pairs.of(self.arena.houses, walked, described)
            for column, measure in zip(table, MEASURES.values(), strict=True):
                column[ended] = measure(pairs)
        return dict(zip(MEASURES, table, strict=True))

    def _check(self, actions: Index) -> None:
        strange = actions[(actions < 0) | (actions >= self.arena.world.actions)]
        if len(strange):
            raise ConfigError(
                f"Action {strange[0]} is not known; "
                f"expected whole numbers from 0 (STOP) to {self.arena.world.actions - 1}."
            )


def _rows(table: Index, lengths: NDArray[np.int64]) -> Ragged:
    """The first `lengths` values of each row."""
    inside = np.arange(table.shape[1]) < lengths[:, None]
    return Ragged(table[inside].astype(np.int32), starts(lengths))
