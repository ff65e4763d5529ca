"""Batches of episodes as arrays: where walkers start, what they are to do, and what was done before.

One type serves imitation (one Baby-Step after the expert's history), the lectures of the curriculum (the last
k steps after the expert's prefix), evaluation (all steps, no history) and a typed instruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.common.ragged import Ragged, ranges, starts
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.mirroring import mirrored
from babywalk.modules.config import PolicyConfig
from babywalk.navigation.history import History, history_along
from babywalk.navigation.world import Poses, World, start_poses

Index = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeBatch:
    """What a batch of walkers has to do. Shapes: B walkers, R remaining steps of all, Q past steps of all."""

    start: Poses  # (B,)
    instructions: Ragged  # R rows of word ids, walker by walker
    first_step: NDArray[np.int64]  # (B + 1,) the first remaining step of each walker
    expert_paths: Ragged | None  # R rows of viewpoints, the expert's path in each step; None if unknown
    past_instructions: Ragged  # Q rows of word ids
    first_past: NDArray[np.int64]  # (B + 1,) the first past step of each walker
    past: History  # the expert's trajectories of the Q past steps
    max_moves: int  # in one step
    mirrored: bool = False  # whether texts and houses are mirrored

    def __len__(self) -> int:
        return len(self.first_step) - 1

    @property
    def goals(self) -> NDArray[np.int64] | None:
        """(R,) the viewpoint where each step ends."""
        return None if self.expert_paths is None else self.expert_paths.lasts.astype(np.int64)


@dataclass(frozen=True, eq=False)
class EpisodeBatches:
    """All episodes of a task, from which batches are taken. Shapes: E episodes."""

    steps: BabySteps
    world: World
    vocabulary: Vocabulary
    tokens: Ragged  # a row of word ids per sentence of the split's texts
    max_words: int  # of one step
    max_moves: int  # in one step

    @classmethod
    def of(
        cls, steps: BabySteps, world: World, vocabulary: Vocabulary, config: PolicyConfig
    ) -> EpisodeBatches:
        """Encode every sentence once. Agents that read instructions whole have limits per joined path."""
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
        """The word ids of the mirrored texts: left is right."""
        return mirrored(self.tokens, self.vocabulary.word_ids)

    def batch(self, episodes: Index, first: Index, last: Index, *, mirrored: bool = False) -> EpisodeBatch:
        """Steps `first` to `last` - 1 of each episode; the steps before are history, walked by the expert."""
        task, houses = self.steps.task, self.steps.task.houses
        words = self._words(episodes, self.mirrored_tokens if mirrored else self.tokens)
        begin = starts(self.count[episodes])[:-1]
        chain = task.chain_of(episodes)
        path_start = task.paths.start[chain]
        ends = self._ends(episodes, chain)
        remaining = ranges(begin + first, last - first)
        past = ranges(begin, first)
        enter = np.append(0, ends[:-1])  # (all steps of the episodes,) where on its path each begins
        enter[begin] = 0
        entry = np.where(first > 0, ends[begin + first - 1], 0)
        owner = np.repeat(np.arange(len(episodes)), first)
        expert_paths, past_paths = (
            _stretches(task.paths.values, np.repeat(path_start, count), enter[steps], ends[steps])
            for steps, count in ((remaining, last - first), (past, first))
        )
        past_start = start_poses(task, episodes[owner], enter[past])
        return EpisodeBatch(
            start=start_poses(task, episodes, entry),
            instructions=self._truncated(words.take(remaining)),
            first_step=starts(last - first),
            expert_paths=expert_paths if task.walks.has_goals else None,
            past_instructions=self._truncated(words.take(past)),
            first_past=starts(first),
            past=history_along(past_paths, past_start.view, self.world, houses),
            max_moves=self.max_moves,
            mirrored=mirrored,
        )

    def prefix(self, episodes: Index, first: Index) -> Ragged:
        """The viewpoints of the expert's path before step `first` begins, without the one it begins at."""
        task = self.steps.task
        chain = task.chain_of(episodes)
        ends = self._ends(episodes, chain)
        begin = starts(self.count[episodes])[:-1]
        length = np.where(first > 0, ends[np.maximum(begin + first - 1, 0)], 0)
        return Ragged(task.paths.values[ranges(task.paths.start[chain], length)], starts(length))

    def instructions(self, episodes: Index) -> Ragged:
        """A row of word ids per episode: its whole instruction."""
        sentences = self.steps.segmented.of_episodes(self.steps.task, episodes)
        words = self.tokens.take(sentences.values)
        return Ragged(words.values, words.start[sentences.start])

    def full(self, episodes: Index) -> EpisodeBatch:
        """All steps, no history."""
        return self.batch(episodes, np.zeros(len(episodes), dtype=np.int64), self.count[episodes])

    def _words(self, episodes: Index, tokens: Ragged) -> Ragged:
        """A row of word ids per step of the episodes, one episode after another."""
        sentences = self.steps.segmented.of_episodes(self.steps.task, episodes)
        words = tokens.take(sentences.values)
        per_step = self.steps.sentences.take(episodes).values
        return Ragged(words.values, words.start[starts(per_step)])

    def _ends(self, episodes: Index, chain: Index) -> NDArray[np.int64]:
        """Where on its path each step of the episodes ends; at the goal for steps that are not aligned."""
        if self.steps.ends is not None:
            return self.steps.ends.take(episodes).values.astype(np.int64)
        last = self.steps.task.paths.lengths[chain] - 1
        return np.repeat(last, self.count[episodes])

    def _truncated(self, words: Ragged) -> Ragged:
        """No more than the first `max_words` words of each row."""
        lengths = np.minimum(words.lengths, self.max_words)
        return Ragged(words.values[ranges(words.start[:-1], lengths)], starts(lengths))


def _stretches(nodes: NDArray[np.int32], path_start: Index, enter: Index, end: Index) -> Ragged:
    """A row of viewpoints for each stretch of a path, from `enter` to `end`, both included."""
    length = end - enter + 1
    return Ragged(nodes[ranges(path_start + enter, length)], starts(length))
