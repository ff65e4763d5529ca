"""Evaluation: run an agent on a task, score its trajectories, summarise the scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.agents.agent import Agent, StepAgent
from babywalk.common.errors import ConfigError, unknown
from babywalk.common.progress import progress
from babywalk.common.ragged import concat_rows
from babywalk.episodes.statistics import words_per_instruction
from babywalk.episodes.task import Task
from babywalk.instructions.step_episodes import StepEpisodes
from babywalk.navigation.measures import MEASURES, Scores, confidence, score
from babywalk.navigation.trajectories import Trajectories

_BATCH = 4096
_STEP_BATCH = 512  # smaller, since each step comes with the views of its history
# Bin widths; that of words is the one of the paper's cross-horizon figure.
_BIN_WORDS, _BIN_METRES = 20, 5


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """The trajectories of all episodes of a task, and their scores."""

    task: Task
    trajectories: Trajectories
    scores: Scores

    @property
    def paths(self) -> NDArray[np.int64]:
        """(E,) the path of each instruction; instructions of one path are not independent samples."""
        return self.task.chain_of(np.arange(len(self.task)))


@dataclass(frozen=True, slots=True)
class Measured:
    """The mean of one measure and its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Group:
    """Mean scores of the episodes in one range of lengths."""

    lengths: str
    episodes: int
    means: dict[str, float]


def walk_all(agent: Agent, task: Task) -> Trajectories:
    """Run an agent on every episode of a task."""
    batches = [np.arange(first, min(first + _BATCH, len(task))) for first in range(0, len(task), _BATCH)]
    walked = [
        agent.walk(task, batch)
        for batch in progress(batches, f"Walking {task.name} {task.split}", unit="batch")
    ]
    return _concatenated(walked)


def walk_steps(agent: Agent, step_episodes: StepEpisodes) -> Trajectories:
    """Run an agent on every Baby-Step alone; a `StepAgent` is given the expert's history as memory."""
    if not isinstance(agent, StepAgent):
        return walk_all(agent, step_episodes.task)
    count = len(step_episodes.task)
    batches = np.array_split(np.arange(count), max(1, count // _STEP_BATCH))
    walked = [
        agent.walk_steps(step_episodes.steps, step_episodes.episode[batch], step_episodes.number[batch])
        for batch in progress(batches, f"Walking Baby-Steps of {step_episodes.task.name}", unit="batch")
    ]
    return _concatenated(walked)


def check_episodes(task: Task) -> None:
    """Raise if the split of a task is empty."""
    if not len(task):
        raise ConfigError(f"{task.name} {task.split} has no episodes. Choose another split.")


def check_goals(task: Task) -> None:
    """Raise if the split of a task has no episodes, or no goals to score against."""
    check_episodes(task)
    if not task.walks.has_goals:
        raise ConfigError(
            f"{task.name} {task.split} has no goals to score against. Choose another split, or write a "
            "leaderboard file: 'babywalk evaluate --trajectories', then 'babywalk submit'."
        )


def evaluate(task: Task, trajectories: Trajectories, *, spl_start_is_goal: str = "success") -> Evaluation:
    """Score trajectories against the reference paths of a task; `spl_start_is_goal` as in `score`."""
    check_goals(task)
    references = task.paths.take(task.chain_of(np.arange(len(task))))
    scores = score(task.houses, trajectories.viewpoints, references, spl_start_is_goal=spl_start_is_goal)
    return Evaluation(task, trajectories, scores)


def summarise(
    evaluation: Evaluation, *, seed: int = 0, per_path: bool = False, paths: NDArray[np.int64] | None = None
) -> dict[str, Measured]:
    """The mean of each measure over instructions, or over paths, with a bootstrap interval over paths.

    `paths` (E,) groups the episodes for the bootstrap; by default by the task's own paths.
    """
    values, groups = evaluation.scores.table(), evaluation.paths if paths is None else paths
    if per_path:
        values = _path_means(values, groups)
        groups = np.arange(len(values))
    low, high = confidence(values, seed=seed, groups=groups)
    return {
        name: Measured(float(mean), float(a), float(b))
        for name, mean, a, b in zip(MEASURES, values.mean(axis=0), low, high, strict=True)
    }


def by_length(
    evaluation: Evaluation,
    length: str = "words",
    *,
    per_path: bool = False,
    paths: NDArray[np.int64] | None = None,
) -> list[Group]:
    """Means of the measures by length of instruction ("words") or path ("metres").

    With `per_path` every path of a group counts once. `paths` as in `summarise`.
    """
    table, groups = evaluation.scores.table(), []
    paths = evaluation.paths if paths is None else paths
    for lengths, chosen in length_groups(evaluation, length).items():
        values = table[chosen]
        if per_path:
            values = _path_means(values, paths[chosen])
        means = dict(zip(MEASURES, values.mean(axis=0).tolist(), strict=True))
        groups.append(Group(lengths=lengths, episodes=int(chosen.sum()), means=means))
    return groups


def _path_means(
    values: NDArray[np.float64],  # (E, M)
    paths: NDArray[np.int64],  # (E,)
) -> NDArray[np.float64]:  # (P, M) the mean of each path
    _, path = np.unique(paths, return_inverse=True)
    count = np.bincount(path)
    return np.stack([np.bincount(path, column) / count for column in values.T], axis=1)


def check_length(length: str) -> None:
    """Raise unless a length is "words" or "metres"."""
    if length not in LENGTHS:
        raise unknown("Length", length, LENGTHS)


def length_groups(evaluation: Evaluation, length: str) -> dict[str, NDArray[np.bool_]]:
    """Ranges of lengths, each with a mask (E,) of its episodes."""
    check_length(length)
    lengths, width = LENGTHS[length]
    bins = (lengths(evaluation) // width).astype(np.int64)
    return {
        f"{number * width}-{(number + 1) * width - 1}": bins == number for number in np.unique(bins).tolist()
    }


def _metres(evaluation: Evaluation) -> NDArray[np.float64]:
    return evaluation.task.path_metres[evaluation.paths]


LENGTHS: dict[str, tuple[Callable[[Evaluation], NDArray[np.float64]], int]] = {
    "words": (lambda evaluation: words_per_instruction(evaluation.task).astype(np.float64), _BIN_WORDS),
    "metres": (_metres, _BIN_METRES),
}


def _concatenated(walked: list[Trajectories]) -> Trajectories:
    return Trajectories(
        concat_rows([item.viewpoints for item in walked]),
        concat_rows([item.views for item in walked]),
    )
