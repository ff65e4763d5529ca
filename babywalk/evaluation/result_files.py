"""Result files of trajectories, checked against a task and converted to and from `Trajectories`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.results import Answer, read_results
from babywalk.buildings.houses import Houses
from babywalk.buildings.panorama import direction, nearest_view
from babywalk.common.errors import DataError, shortlist
from babywalk.common.ragged import Ragged
from babywalk.episodes.task import Task
from babywalk.navigation.trajectories import Trajectories
from babywalk.navigation.world import angles, start_poses


def result_file(folder: Path, task: str, split: str) -> Path:
    """The file of trajectories; a sample such as "val_unseen:40" has a file of its own."""
    return folder / f"{task}_{split.replace(':', '_')}.json"


def read_trajectories(file: Path, task: Task) -> Trajectories:
    """The trajectories of a result file in the order of the task's episodes.

    Raises unless each instruction is answered exactly once, by a path along edges from its start.
    """
    answers = read_results(file)
    _check_ids(answers, task, file)
    by_id = {answer.id: answer for answer in answers}
    return _to_trajectories([by_id[id_] for id_ in task.ids(np.arange(len(task)))], task, file)


def to_results(trajectories: Trajectories, task: Task) -> list[Answer]:
    """Trajectories as records of a result file, with heading and elevation at each step."""
    names = np.array(task.houses.names, dtype=object)[trajectories.viewpoints.values].tolist()
    heading, elevation = (turn.round(6).tolist() for turn in angles(trajectories.views.values))
    start = trajectories.viewpoints.start.tolist()
    return [
        Answer(id_, tuple(names[a:b]), tuple(zip(heading[a:b], elevation[a:b], strict=True)))
        for id_, a, b in zip(task.ids(np.arange(len(task))), start[:-1], start[1:], strict=True)
    ]


def _check_ids(answers: Sequence[Answer], task: Task, file: Path) -> None:
    """Raise unless the ids are those of the task, each once."""
    expected = dict.fromkeys(task.ids(np.arange(len(task))))
    given = Counter(answer.id for answer in answers)
    where = f"{task.name} {task.split}"
    unknown = [id_ for id_ in given if id_ not in expected]
    if unknown:
        raise DataError(f"{file}: {len(unknown):,} ids are not in {where}: {shortlist(unknown)}.")
    twice = [id_ for id_, count in given.items() if count > 1]
    if twice:
        raise DataError(
            f"{file}: {len(twice):,} instructions have more than one trajectory: {shortlist(twice)}."
        )
    missing = [id_ for id_ in expected if id_ not in given]
    if missing:
        sample = f" If this is a sample, give --split {task.split}:{len(given)}." if given else ""
        raise DataError(
            f"{file}: {len(missing):,} instructions of {where} have no trajectory: "
            f"{shortlist(missing)}.{sample}"
        )


def _to_trajectories(answers: Sequence[Answer], task: Task, file: Path) -> Trajectories:
    """Answers as global viewpoints and views; raises unless each is a path along edges from its start."""
    houses = task.houses
    empty = [answer.id for answer in answers if not answer.path]
    if empty:
        raise DataError(
            f"{file}: {len(empty):,} trajectories are empty: {shortlist(empty)}. "
            "Give at least the start viewpoint."
        )
    poses = start_poses(task, np.arange(len(task)))
    scans = [houses.scans[house] for house in houses.house_of[poses.viewpoint]]
    viewpoints = _viewpoint_numbers(answers, scans, houses, file)
    wrong = np.flatnonzero(viewpoints.firsts != poses.viewpoint).tolist()
    if wrong:
        raise DataError(
            f"{file}: {len(wrong):,} trajectories do not begin at the start viewpoint of their episode: "
            f"{shortlist(answers[row].id for row in wrong)}."
        )
    _check_edges(viewpoints, answers, houses, file)
    return Trajectories(viewpoints, Ragged(_facing(viewpoints, poses.view, houses), viewpoints.start))


def _viewpoint_numbers(answers: Sequence[Answer], scans: Sequence[str], houses: Houses, file: Path) -> Ragged:
    outside, rows = [], []
    for answer, scan in zip(answers, scans, strict=True):
        numbers = houses.viewpoints(scan)
        rows.append([numbers.get(viewpoint, -1) for viewpoint in answer.path])
        if -1 in rows[-1]:
            outside.append(f"{answer.id} ({answer.path[rows[-1].index(-1)]})")
    if outside:
        raise DataError(
            f"{file}: {len(outside):,} trajectories visit viewpoints that are not in their house: "
            f"{shortlist(outside)}."
        )
    return Ragged.of(rows)


def _check_edges(viewpoints: Ragged, answers: Sequence[Answer], houses: Houses, file: Path) -> None:
    """Raise unless each step is along an edge, or stays: a repeated viewpoint is a turn or STOP."""
    a, b = viewpoints.values[:-1], viewpoints.values[1:]
    inside = np.ones(len(a), dtype=bool)
    inside[viewpoints.start[1:-1] - 1] = False
    jumps = np.flatnonzero(inside & (a != b) & ~houses.adjacent(a, b))
    rows = np.unique(np.searchsorted(viewpoints.start, jumps, side="right") - 1).tolist()
    if rows:
        raise DataError(
            f"{file}: {len(rows):,} trajectories move between viewpoints without an edge: "
            f"{shortlist(answers[row].id for row in rows)}."
        )


def _facing(viewpoints: Ragged, first_view: NDArray[np.int64], houses: Houses) -> NDArray[np.int32]:
    """The view faced at each viewpoint: the direction of the last move, or the start's before any move."""
    values = viewpoints.values
    moved = np.append(False, values[1:] != values[:-1])
    moved[viewpoints.start[:-1]] = False
    offset = houses.positions[values] - houses.positions[np.roll(values, 1)]
    view = nearest_view(*direction(offset))
    view[viewpoints.start[:-1]] = first_view
    known = moved.copy()
    known[viewpoints.start[:-1]] = True
    # A walker that stays keeps its view.
    facing: NDArray[np.int32] = view[np.maximum.accumulate(np.where(known, np.arange(len(values)), 0))]
    return facing
