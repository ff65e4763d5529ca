"""Statistics of a data set, as in the data table of the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.tokens import tokenise
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.joining import TASKS
from babywalk.episodes.task import Task
from babywalk.episodes.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class TaskStatistics:
    """One task in one split. Means are over instructions for words and over paths for the rest."""

    task: str
    split: str
    instructions: int
    paths: int
    full_instructions: int  # before the draw to the published size
    draw: str | None  # the name of that draw
    words: float  # per instruction, punctuation counted
    metres: float | None  # along the path; like the next two, None without goals
    viewpoints: float | None  # of the path, both ends included
    shortest_metres: float | None  # from its start to its goal


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """Words of a split that are not in the vocabulary of the training split."""

    split: str
    words: int
    unknown: int
    most_missed: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Lengths:
    """The number of words of every instruction and of viewpoints of every path."""

    words: NDArray[np.int64]
    viewpoints: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of a data directory."""

    houses: int
    viewpoints: int
    vocabulary: int
    tasks: tuple[TaskStatistics, ...]
    unknown_words: tuple[WordStatistics, ...]


def statistics(dataset: Dataset) -> Statistics:
    """Statistics of all tasks and splits of a data directory."""
    tasks = [
        _task_statistics(dataset.task(name, split))
        for name in TASKS
        for split in dataset.splits
        if dataset.has(name, split)
    ]
    vocabulary = dataset.vocabulary() if "train" in dataset.splits else None
    unknown = [_unknown_words(dataset, vocabulary, split) for split in dataset.splits] if vocabulary else []
    houses = dataset.houses
    return Statistics(
        houses=len(houses),
        viewpoints=len(houses.names),
        vocabulary=len(vocabulary) if vocabulary else 0,
        tasks=tuple(tasks),
        unknown_words=tuple(unknown),
    )


def _unknown_words(dataset: Dataset, vocabulary: Vocabulary, split: str) -> WordStatistics:
    encoded = vocabulary.encode(dataset.walks(split).texts)
    counts = encoded.unknown_counts
    return WordStatistics(split, len(encoded.tokens.values), counts.total(), tuple(counts.most_common(5)))


def lengths(task: Task) -> Lengths:
    """The lengths of a task's instructions and paths."""
    return Lengths(words_per_instruction(task), task.paths.lengths[task.chains_used])


def _task_statistics(task: Task) -> TaskStatistics:
    used, paths = task.chains_used, task.paths
    has_paths = task.walks.has_goals and len(used) > 0
    return TaskStatistics(
        task=task.name,
        split=task.split,
        instructions=len(task),
        paths=len(used),
        full_instructions=task.full_size,
        draw=task.draw,
        words=float(words_per_instruction(task).mean()) if len(task) else 0.0,
        metres=float(task.path_metres[used].mean()) if has_paths else None,
        viewpoints=float(paths.lengths[used].mean()) if has_paths else None,
        shortest_metres=(
            float(task.houses.distance(paths.firsts, paths.lasts)[used].mean()) if has_paths else None
        ),
    )


def words_per_instruction(task: Task) -> NDArray[np.int64]:
    """(E,) the number of words of each instruction."""
    per_text = np.array([len(tokenise(text)) for text in task.walks.texts], dtype=np.int64)
    total: NDArray[np.int64] = per_text[task.texts_of(np.arange(len(task)))].sum(axis=-1)
    return total
