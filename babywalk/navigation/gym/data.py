"""What an environment is made from: its keywords, the data they name, and the order of its episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.features import BLIND, open_features, sources
from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError, unknown
from babywalk.common.ragged import Integers, Ragged, concat_within_rows
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.joining import join_rule
from babywalk.episodes.task import Task
from babywalk.episodes.vocabulary import PADDING, Vocabulary
from babywalk.navigation.observation import Observer
from babywalk.navigation.rewards import REWARDS
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.world import World

ROOMS_PER_WALK = 2
STEPS_PER_ROOM = 5
WORDS_PER_ROOM = 50
EPISODE = "episode"  # the option of `reset` that selects an episode

EpisodeName = str | int | np.integer[Any]  # an id, or a number in the task


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvConfig:
    """The keywords of an environment; the default of those with None depends on the task or the data."""

    data: str | PathLike[str] | Dataset
    task: str = "r2r"
    split: str = "train"  # or "train:500", a seeded sample
    features: str | None = None  # a spec of view features; None: the first source of the data, else "none"
    max_steps: int | None = None  # None: 5 per room
    max_words: int | None = None  # None: 50 per room
    reward: str = "goal"
    vocabulary: Vocabulary | None = None  # None: that of the training split

    def __post_init__(self) -> None:
        join_rule(self.task)
        if self.reward not in REWARDS:
            raise unknown("Reward", self.reward, REWARDS)
        for name in ("max_steps", "max_words"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} = {value} is out of range; expected 1 or more.")

    @classmethod
    def of(cls, keywords: Mapping[str, Any]) -> EnvConfig:
        """From keywords; unknown and missing ones are errors."""
        known = [field.name for field in fields(cls)]
        for name in keywords:
            if name not in known:
                raise unknown("Keyword", name, known)
        for field in fields(cls):
            if field.default is MISSING and field.name not in keywords:
                raise ConfigError(f"An environment needs the keyword {field.name!r}, a data directory.")
        return cls(**keywords)

    @property
    def rooms(self) -> int:
        """The number of rooms that a path of the task visits."""
        return ROOMS_PER_WALK * join_rule(self.task).walks

    @property
    def steps(self) -> int:
        """The number of steps after which an episode is truncated."""
        return self.max_steps or STEPS_PER_ROOM * self.rooms

    @property
    def words(self) -> int:
        """The size of the observation's `tokens`."""
        return self.max_words or WORDS_PER_ROOM * self.rooms


@dataclass(frozen=True, eq=False)
class EnvData:
    """The data of an environment, which no step changes. Shapes: B episodes, L words."""

    config: EnvConfig
    task: Task
    world: World
    observer: Observer
    teacher: Teacher | None  # None for a test split, which has no goals
    vocabulary: Vocabulary
    tokens: Ragged  # the words of each text of the split
    characters: frozenset[str]  # of the texts of all splits
    longest_text: int  # characters in the longest text of all splits

    @classmethod
    def of(cls, config: EnvConfig) -> EnvData:
        """Open what a config names."""
        dataset = config.data if isinstance(config.data, Dataset) else Dataset(Path(config.data))
        houses = dataset.houses
        task = dataset.task(config.task, config.split)
        spec = config.features or next(iter(sources(dataset.folder)), BLIND)
        world = World.of(houses)
        vocabulary = config.vocabulary or dataset.vocabulary()
        # Of every split, so that training and validation have equal spaces.
        texts = [text for split in dataset.splits for text in dataset.walks(split).texts]
        return cls(
            config=config,
            task=task,
            world=world,
            observer=Observer.of(world, open_features(dataset.folder, spec, houses)),
            teacher=Teacher.of(houses) if task.walks.has_goals else None,
            vocabulary=vocabulary,
            tokens=vocabulary.encode(task.walks.texts).tokens,
            characters=frozenset(" ").union(*texts),
            longest_text=max(map(len, texts)),
        )

    @property
    def houses(self) -> Houses:
        """The houses of the dataset."""
        return self.task.houses

    @cached_property
    def viewpoint_ids(self) -> NDArray[np.object_]:
        """(N,) the ids of all viewpoints."""
        return np.array(self.houses.names, dtype=object)

    def episodes(self, names: Sequence[EpisodeName]) -> NDArray[np.int64]:
        """(B,) the numbers of episodes given by id or by number."""
        return np.array([self._episode(name) for name in names], dtype=np.int64)

    def _episode(self, name: EpisodeName) -> int:
        if isinstance(name, str):
            return self.task.index_of(name)
        if not 0 <= name < len(self.task):
            raise ConfigError(f"Episode {name} is out of range; expected 0 to {len(self.task) - 1}.")
        return int(name)

    def words(self, episodes: Integers) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """(B, L) the tokens of each instruction, truncated or padded, and (B,) how many are words."""
        texts = self.task.texts_of(episodes)
        rows = concat_within_rows([self.tokens.take(part) for part in texts.T])
        limit, padding = self.config.words, self.vocabulary.word_ids[PADDING]
        table = np.full((len(episodes), limit), padding, dtype=np.int32)
        words = rows.padded(padding)[:, :limit]
        table[:, : words.shape[1]] = words
        return table, np.minimum(rows.lengths, limit)


class EpisodeSampler:
    """Shuffled episodes without replacement: each epoch has every episode once, in a new order."""

    def __init__(self, data: EnvData) -> None:
        self._data = data
        self._queue = np.zeros(0, dtype=np.int64)  # the rest of the epoch

    def take(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """(count,) the next episodes; a new epoch is drawn when the last is used up."""
        while len(self._queue) < count:
            self._queue = np.concatenate([self._queue, rng.permutation(len(self._data.task))])
        taken, self._queue = self._queue[:count], self._queue[count:]
        return taken

    def reset(
        self, count: int, rng: np.random.Generator, *, seed: int | None, options: dict[str, Any] | None
    ) -> NDArray[np.int64]:
        """(count,) the episodes of a reset: those of the option, or the next; a seed starts a new epoch."""
        if seed is not None:
            self._queue = self._queue[:0]
        names = _selected(options)
        if names is None:
            return self.take(count, rng)
        if len(names) != count:
            raise ConfigError(f"The option {EPISODE!r} names {len(names)} episodes; expected {count}.")
        return self._data.episodes(names)


def _selected(options: dict[str, Any] | None) -> Sequence[EpisodeName] | None:
    for name in options or ():
        if name != EPISODE:
            raise unknown("Option of reset", name, [EPISODE])
    names = (options or {}).get(EPISODE)
    return [names] if isinstance(names, str | int | np.integer) else names
