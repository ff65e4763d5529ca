"""How well a task was walked: measures, their spread, and how they change with length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.common.errors import ConfigError, unknown
from babywalk.common.progress import progress
from babywalk.common.ragged import concat_rows
from babywalk.episodes.statistics import words_per_instruction
from babywalk.episodes.task import Task
from babywalk.instructions.step_episodes import StepEpisodes
from babywalk.navigation.measures import MEASURES, Scores, confidence, score
from babywalk.navigation.trajectories import Agent, StepAgent, Trajectories

_BATCH = 4096
_STEP_BATCH = 512  # with their histories, which are views of whole walks
_BIN_WORDS = 20  # of the paper's cross-horizon figure: instructions grouped by their length
_BIN_METRES = 5


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Trajectories of all episodes of a task and their scores."""

    task: Task
    trajectories: Trajectories
    scores: Scores

    @property
    def paths(self) -> NDArray[np.int64]:
        """(E,) the path each instruction describes: instructions of one path are not independent."""
        return self.task.chain_of(np.arange(len(self.task)))


@dataclass(frozen=True, slots=True)
class Measured:
    """The mean of one measure and its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Group:
    """The episodes of one range of lengths."""

    lengths: str
    episodes: int
    means: dict[str, float]


def walk_all(agent: Agent, task: Task) -> Trajectories:
    """Let an agent walk every episode of a task."""
    batches = [np.arange(first, min(first + _BATCH, len(task))) for first in range(0, len(task), _BATCH)]
    walked = [
        agent.walk(task, batch)
        for batch in progress(batches, f"Walking {task.name} {task.split}", unit="batch")
    ]
    return _joined(walked)


def walk_steps(agent: Agent, single: StepEpisodes) -> Trajectories:
    """Let an agent walk every Baby-Step alone; who can remember is shown what lies behind."""
    if not isinstance(agent, StepAgent):
        return walk_all(agent, single.task)
    batches = np.array_split(np.arange(len(single.task)), max(1, len(single.task) // _STEP_BATCH))
    walked = [
        agent.walk_steps(single.steps, single.episode[batch], single.number[batch])
        for batch in progress(batches, f"Walking Baby-Steps of {single.task.name}", unit="batch")
    ]
    return _joined(walked)


def check_goals(task: Task) -> None:
    """Nothing can be measured without goals."""
    if not task.walks.has_goals:
        raise ConfigError(
            f"{task.name} {task.split} has no goals to measure against. Choose another split; "
            "for a leaderboard, 'babywalk evaluate' with --trajectories, then 'babywalk submit'."
        )


def evaluate(task: Task, trajectories: Trajectories) -> Evaluation:
    """Score trajectories against the paths that were described."""
    check_goals(task)
    references = task.paths.take(task.chain_of(np.arange(len(task))))
    return Evaluation(task, trajectories, score(task.houses, trajectories.viewpoints, references))


def summarise(
    evaluation: Evaluation, *, seed: int = 0, per_path: bool = False, paths: NDArray[np.int64] | None = None
) -> dict[str, Measured]:
    """Each measure's mean over instructions, or over paths, with an interval from drawing whole paths.

    `paths` (E,) says which path each belongs to, where it is more than what was to be walked.
    """
    values, groups = evaluation.scores.table(), evaluation.paths if paths is None else paths
    if per_path:
        values = _means_of_paths(values, groups)
        groups = np.arange(len(values))
    low, high = confidence(values, seed=seed, groups=groups)
    return {
        name: Measured(float(mean), float(a), float(b))
        for name, mean, a, b in zip(MEASURES, values.mean(axis=0), low, high, strict=True)
    }


def by_length(
    evaluation: Evaluation,
    what: str = "words",
    *,
    per_path: bool = False,
    paths: NDArray[np.int64] | None = None,
) -> list[Group]:
    """Means of the measures for ever longer instructions ("words") or paths ("metres").

    With `per_path` every path of a group counts once; `per_path` and `paths` as in `summarise`.
    """
    table, groups = evaluation.scores.table(), []
    paths = evaluation.paths if paths is None else paths
    for lengths, chosen in length_groups(evaluation, what).items():
        values = table[chosen]
        if per_path:
            values = _means_of_paths(values, paths[chosen])
        means = dict(zip(MEASURES, values.mean(axis=0).tolist(), strict=True))
        groups.append(Group(lengths=lengths, episodes=int(chosen.sum()), means=means))
    return groups


def _means_of_paths(
    values: NDArray[np.float64],  # (E, M)
    paths: NDArray[np.int64],  # (E,)
) -> NDArray[np.float64]:  # (P, M) of each path that there is
    _, which = np.unique(paths, return_inverse=True)
    count = np.bincount(which)
    return np.stack([np.bincount(which, column) / count for column in values.T], axis=1)


def check_length(what: str) -> None:
    """Refuse a kind of length that there is not."""
    if what not in LENGTHS:
        raise unknown("Length", what, LENGTHS)


def length_groups(evaluation: Evaluation, what: str) -> dict[str, NDArray[np.bool_]]:
    """Ranges of lengths, and which episodes (E,) fall into each."""
    check_length(what)
    lengths, width = LENGTHS[what]
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


def _joined(walked: list[Trajectories]) -> Trajectories:
    return Trajectories(
        concat_rows([item.viewpoints for item in walked]),
        concat_rows([item.views for item in walked]),
    )
