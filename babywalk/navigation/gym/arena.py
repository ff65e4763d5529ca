"""What stays the same from walk to walk: the world, the task, and the words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.features import BLIND, open_features, sources
from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError
from babywalk.common.ragged import Ragged, concat_within_rows
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.episodes.vocabulary import PADDING, Vocabulary
from babywalk.navigation.gym.settings import Settings
from babywalk.navigation.observation import Observer
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.world import World

Index = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Arena:
    """Everything that walkers read and none of them changes. Shapes: B episodes, L words, M texts each."""

    settings: Settings
    task: Task
    world: World
    observer: Observer
    teacher: Teacher | None  # None in a test split, which has no goals
    vocabulary: Vocabulary
    tokens: Ragged  # the words of each of the task's texts
    characters: frozenset[str]  # that occur in the texts of any split
    longest: int  # characters in the longest text of any split

    @classmethod
    def of(cls, settings: Settings) -> Arena:
        """Open what the settings name."""
        data = settings.data
        dataset = data if isinstance(data, Dataset) else Dataset(Path(data))
        houses = dataset.houses
        task = dataset.task(settings.task, settings.split)
        spec = settings.features or next(iter(sources(dataset.folder)), BLIND)
        world = World.of(houses)
        vocabulary = settings.vocabulary or dataset.vocabulary()
        # Of every split, so that the spaces of training and of validation are equal.
        texts = [text for split in dataset.splits for text in dataset.walks(split).texts]
        return cls(
            settings=settings,
            task=task,
            world=world,
            observer=Observer.of(world, open_features(dataset.folder, spec, houses)),
            teacher=Teacher.of(houses) if task.walks.has_goals else None,
            vocabulary=vocabulary,
            tokens=vocabulary.encode(task.walks.texts).tokens,
            characters=frozenset(" ").union(*texts),
            longest=max(map(len, texts)),
        )

    @property
    def houses(self) -> Houses:
        """The houses walked in."""
        return self.task.houses

    @cached_property
    def names(self) -> NDArray[np.object_]:
        """(N,) the ids of all viewpoints, to be gathered by a batch."""
        return np.array(self.houses.names, dtype=object)

    def episodes(self, wanted: Sequence[str | int | np.integer[Any]]) -> NDArray[np.int64]:
        """(B,) the numbers of episodes that are given by id or by number."""
        return np.array([self._episode(one) for one in wanted], dtype=np.int64)

    def _episode(self, wanted: str | int | np.integer[Any]) -> int:
        if isinstance(wanted, str):
            return self.task.number_of(wanted)
        if not 0 <= wanted < len(self.task):
            raise ConfigError(f"Episode {wanted} is not there; expected 0 to {len(self.task) - 1}.")
        return int(wanted)

    def words(self, episodes: Index) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """(B, L) the words of each instruction, cut off or filled up, and (B,) how many they are."""
        texts = self.task.texts_of(episodes)
        rows = concat_within_rows([self.tokens.take(part) for part in texts.T])
        limit, padding = self.settings.words, self.vocabulary.numbers[PADDING]
        table = np.full((len(episodes), limit), padding, dtype=np.int32)
        shown = rows.padded(padding)[:, :limit]
        table[:, : shown.shape[1]] = shown
        return table, np.minimum(rows.lengths, limit)

    def instructions(self, episodes: Index) -> list[str]:
        """The text of each instruction."""
        return self.task.instructions(episodes)
