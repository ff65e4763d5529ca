"""Answers in a file against the instructions of a task: each known, each answered once, each walkable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babywalk.agents.baselines import starts
from babywalk.assets.results import Answer, read_results
from babywalk.buildings.houses import Houses
from babywalk.buildings.panorama import direction, nearest_view
from babywalk.common.errors import DataError, shortlist
from babywalk.common.ragged import Ragged
from babywalk.episodes.task import Task
from babywalk.navigation.trajectories import Trajectories
from babywalk.navigation.world import angles


def read_answers(file: Path, task: Task) -> Trajectories:
    """The trajectories of a result file in the order of the task's episodes, all checks passed."""
    answers = {answer.id: answer for answer in _known(read_results(file), task, file)}
    return _placed([answers[id_] for id_ in task.ids(np.arange(len(task)))], task, file)


def as_answers(trajectories: Trajectories, task: Task) -> list[Answer]:
    """Trajectories in the form of a result file, with what was faced at each step."""
    names = np.array(task.houses.names, dtype=object)[trajectories.viewpoints.values].tolist()
    heading, elevation = (turn.round(6).tolist() for turn in angles(trajectories.views.values))
    start = trajectories.viewpoints.start.tolist()
    return [
        Answer(id_, tuple(names[a:b]), tuple(zip(heading[a:b], elevation[a:b], strict=True)))
        for id_, a, b in zip(task.ids(np.arange(len(task))), start[:-1], start[1:], strict=True)
    ]


def _known(answers: Sequence[Answer], task: Task, file: Path) -> Sequence[Answer]:
    """The answers, if their ids are just those of the task."""
    expected = dict.fromkeys(task.ids(np.arange(len(task))))
    given = Counter(answer.id for answer in answers)
    where = f"{task.name} {task.split}"
    unknown = [id_ for id_ in given if id_ not in expected]
    if unknown:
        raise DataError(f"{file}: {len(unknown):,} ids are not in {where}: {shortlist(unknown)}.")
    twice = [id_ for id_, count in given.items() if count > 1]
    if twice:
        raise DataError(
            f"{file}: {len(twice):,} instructions are answered more than once: {shortlist(twice)}."
        )
    missing = [id_ for id_ in expected if id_ not in given]
    if missing:
        sample = f" For answers to a sample, give --split {task.split}:{len(given)}." if given else ""
        raise DataError(
            f"{file}: {len(missing):,} instructions of {where} have no answer: {shortlist(missing)}.{sample}"
        )
    return answers


def _placed(answers: Sequence[Answer], task: Task, file: Path) -> Trajectories:
    """Answers on the global viewpoints, if each is a walk along edges from its start."""
    houses = task.houses
    empty = [answer.id for answer in answers if not answer.path]
    if empty:
        raise DataError(
            f"{file}: {len(empty):,} trajectories are empty: {shortlist(empty)}. Give at least the start."
        )
    poses = starts(task, np.arange(len(task)))
    scans = [houses.scans[house] for house in houses.house_of[poses.viewpoint]]
    viewpoints = _numbers(answers, scans, houses, file)
    astray = np.flatnonzero(viewpoints.firsts != poses.viewpoint).tolist()
    if astray:
        raise DataError(
            f"{file}: {len(astray):,} trajectories do not begin at their start: "
            f"{shortlist(answers[row].id for row in astray)}."
        )
    _check_edges(viewpoints, answers, houses, file)
    return Trajectories(viewpoints, Ragged(_facing(viewpoints, poses.view, houses), viewpoints.start))


def _numbers(answers: Sequence[Answer], scans: Sequence[str], houses: Houses, file: Path) -> Ragged:
    strange = []
    rows = []
    for answer, scan in zip(answers, scans, strict=True):
        numbers = houses.viewpoints(scan)
        rows.append([numbers.get(viewpoint, -1) for viewpoint in answer.path])
        if -1 in rows[-1]:
            strange.append(f"{answer.id} ({answer.path[rows[-1].index(-1)]})")
    if strange:
        raise DataError(
            f"{file}: {len(strange):,} trajectories visit viewpoints of no such house: {shortlist(strange)}."
        )
    return Ragged.of(rows)


def _check_edges(viewpoints: Ragged, answers: Sequence[Answer], houses: Houses, file: Path) -> None:
    """Each step must be an edge, or none at all: a repeated viewpoint is a turn or a STOP."""
    a, b = viewpoints.values[:-1], viewpoints.values[1:]
    inside = np.ones(len(a), dtype=bool)
    inside[viewpoints.start[1:-1] - 1] = False
    jumps = np.flatnonzero(inside & (a != b) & ~houses.adjacent(a, b))
    rows = np.unique(np.searchsorted(viewpoints.start, jumps, side="right") - 1).tolist()
    if rows:
        raise DataError(
            f"{file}: {len(rows):,} trajectories jump between viewpoints without an edge: "
            f"{shortlist(answers[row].id for row in rows)}."
        )


def _facing(viewpoints: Ragged, first_view: NDArray[np.int64], houses: Houses) -> NDArray[np.int32]:
    """The view faced at each viewpoint: that of the move which led there; the start's before any move."""
    values = viewpoints.values
    moved = np.append(False, values[1:] != values[:-1])
    moved[viewpoints.start[:-1]] = False
    offset = houses.positions[values] - houses.positions[np.roll(values, 1)]
    view = nearest_view(*direction(offset))
    view[viewpoints.start[:-1]] = first_view
    known = moved.copy()
    known[viewpoints.start[:-1]] = True
    # Who stays keeps facing what was faced before.
    held: NDArray[np.int32] = view[np.maximum.accumulate(np.where(known, np.arange(len(values)), 0))]
    return held
