"""Lessons: what walkers are told and shown before they walk, as arrays.

One data type serves imitation (one step, the expert's history), the lectures of the curriculum (the expert's
prefix, the last k steps), evaluation (all steps, no history) and a sentence typed by a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.panorama import COLUMNS
from babywalk.common.ragged import Ragged, ranges, starts
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.mirroring import mirrored
from babywalk.modules.config import PolicyConfig
from babywalk.navigation.history import History, actions_between, walked_along
from babywalk.navigation.world import Poses, World, poses_at

Index = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeBatch:
    """What a batch of walkers has to do. Shapes: B walkers, Q steps behind them, R steps ahead of them."""

    start: Poses  # (B,) where they stand
    ahead: Ragged  # R rows of words
    first_ahead: NDArray[np.int64]  # (B + 1,) the first step ahead of each walker
    routes: Ragged | None  # R rows of viewpoints, the expert's way through each step; None if nobody knows
    behind: Ragged  # Q rows of words
    first_behind: NDArray[np.int64]  # (B + 1,)
    done: History  # how the expert walked the Q steps
    moves: int  # that a walker may make in one step
    mirrored: bool = False  # whether all of it is told and walked in the houses' mirror images

    def __len__(self) -> int:
        return len(self.first_ahead) - 1

    @property
    def goals(self) -> NDArray[np.int64] | None:
        """(R,) the viewpoint where each step ends."""
        return None if self.routes is None else self.routes.lasts.astype(np.int64)


@dataclass(frozen=True, eq=False)
class EpisodeBatches:
    """All episodes of a task as lessons. Shapes: E episodes."""

    steps: BabySteps
    world: World
    vocabulary: Vocabulary
    tokens: Ragged  # a row of word numbers per sentence of the split's texts
    max_words: int  # of one step
    moves: int  # in one step

    @classmethod
    def of(
        cls, steps: BabySteps, world: World, vocabulary: Vocabulary, config: PolicyConfig
    ) -> EpisodeBatches:
        """Encode every sentence once. Who takes an instruction whole may use as much for each walk in it."""
        segmented, texts = steps.segmented, steps.task.walks.texts
        words = [segmented.words_of(number, texts) for number in range(len(segmented.begin))]
        scale = steps.task.chain.shape[1] if config.steps == "whole" else 1
        tokens = vocabulary.encode(words).tokens
        return cls(steps, world, vocabulary, tokens, config.max_words * scale, config.max_moves * scale)

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def count(self) -> NDArray[np.int64]:
        """(E,) steps of each episode."""
        return self.steps.sentences.lengths

    @cached_property
    def mirrored_tokens(self) -> Ragged:
        """The same in a mirror."""
        return mirrored(self.tokens, self.vocabulary.numbers)

    def lesson(self, episodes: Index, first: Index, last: Index, *, mirrored: bool = False) -> EpisodeBatch:
        """Steps `first` to `last` - 1 of each episode ahead; those before lie behind as the expert walked."""
        task, houses = self.steps.task, self.steps.task.houses
        words = self._words(episodes, self.mirrored_tokens if mirrored else self.tokens)
        begin = starts(self.count[episodes])[:-1]
        chain = task.chain_of(episodes)
        path_start = task.paths.start[chain]
        ends = self._ends(episodes, chain)
        ahead = ranges(begin + first, last - first)
        behind = ranges(begin, first)
        enter = np.append(0, ends[:-1])  # (all steps of the episodes,) where on its path each begins
        enter[begin] = 0
        entry = np.where(first > 0, ends[begin + first - 1], 0)
        headings = task.walks.headings[task.chain[chain, 0]]
        poses = self._poses(path_start, entry, headings)
        owner = np.repeat(np.arange(len(episodes)), first)
        routes, done = (
            _ways(task.paths.values, np.repeat(path_start, count), enter[steps], ends[steps])
            for steps, count in ((ahead, last - first), (behind, first))
        )
        began = self._poses(path_start[owner], enter[behind], headings[owner])
        return EpisodeBatch(
            start=poses,
            ahead=self._cut(words.take(ahead)),
            first_ahead=starts(last - first),
            routes=routes if task.walks.has_goals else None,
            behind=self._cut(words.take(behind)),
            first_behind=starts(first),
            done=walked_along(done, began.view, self.world, houses),
            moves=self.moves,
            mirrored=mirrored,
        )

    def prefix(self, episodes: Index, first: Index) -> Ragged:
        """The viewpoints of the expert's path before step `first` begins, the one it begins at left out."""
        task = self.steps.task
        chain = task.chain_of(episodes)
        ends = self._ends(episodes, chain)
        begin = starts(self.count[episodes])[:-1]
        length = np.where(first > 0, ends[np.maximum(begin + first - 1, 0)], 0)
        return Ragged(task.paths.values[ranges(task.paths.start[chain], length)], starts(length))

    def whole(self, episodes: Index) -> EpisodeBatch:
        """All steps ahead."""
        return self.lesson(episodes, np.zeros(len(episodes), dtype=np.int64), self.count[episodes])

    def _words(self, episodes: Index, tokens: Ragged) -> Ragged:
        """A row of word numbers per step of the episodes, one episode after another."""
        sentences = self.steps.segmented.of_episodes(self.steps.task, episodes)
        words = tokens.take(sentences.values)
        per_step = self.steps.sentences.take(episodes).values
        return Ragged(words.values, words.start[starts(per_step)])

    def _ends(self, episodes: Index, chain: Index) -> NDArray[np.int64]:
        """Where on its path each step of the episodes ends; the last at the goal, the others if aligned."""
        if self.steps.ends is not None:
            return self.steps.ends.take(episodes).values.astype(np.int64)
        last = self.steps.task.paths.lengths[chain] - 1
        return np.repeat(last, self.count[episodes])

    def _cut(self, words: Ragged) -> Ragged:
        """No more than the first `max_words` words of each row."""
        lengths = np.minimum(words.lengths, self.max_words)
        return Ragged(words.values[ranges(words.start[:-1], lengths)], starts(lengths))

    def _poses(
        self,
        path_start: Index,  # (B,) where each path begins among the viewpoints of all
        place: Index,  # (B,) index into the path
        heading: NDArray[np.float64],  # (B,) at the path's start
    ) -> Poses:
        """Poses on the expert's path when a step begins there: facing as one came, level."""
        houses, nodes = self.steps.task.houses, self.steps.task.paths.values
        at = nodes[path_start + place].astype(np.int64)
        before = nodes[path_start + np.maximum(place - 1, 0)].astype(np.int64)
        first = poses_at(at, heading)
        came = self.world.facing[before, actions_between(houses, before, at)] % COLUMNS + COLUMNS
        return Poses(at, np.where(place > 0, came, first.view))


def _ways(nodes: NDArray[np.int32], path_start: Index, enter: Index, end: Index) -> Ragged:
    """The viewpoints from one place of a path to another, both of them in it, a row each."""
    length = end - enter + 1
    return Ragged(nodes[ranges(path_start + enter, length)], starts(length))
