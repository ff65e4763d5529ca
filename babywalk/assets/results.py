"""Results: trajectories in the format of the R2R leaderboard.

A list of `{"instr_id": "4332_0", "trajectory": [["viewpoint", heading, elevation], ...]}`; a plain list of
viewpoints is read too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from babywalk.assets.records import Record, records
from babywalk.common.files import read_json, write_json


@dataclass(frozen=True, slots=True)
class Answer:
    """The trajectory that answers one instruction."""

    id: str
    path: tuple[str, ...]  # viewpoint ids
    facing: tuple[tuple[float, float], ...] | None = None  # heading and elevation at each; None if not given


def read_results(file: Path) -> list[Answer]:
    """Read and check a result file; whether its answers match a task is not checked here."""
    return [_answer(record) for record in records(file, read_json(file), "answer")]


def write_results(file: Path, answers: Iterable[Answer]) -> None:
    """Write a result file; answers without headings are plain lists of viewpoints."""
    write_json(
        file, [{"instr_id": answer.id, "trajectory": _trajectory(answer)} for answer in answers], indent=None
    )


def _answer(record: Record) -> Answer:
    steps = record.items("trajectory", "a list of viewpoints")
    if all(isinstance(step, str) for step in steps):
        return Answer(record.string("instr_id"), tuple(steps))
    if not all(_is_pose(step) for step in steps):
        raise record.wrong("trajectory", 'viewpoints, or ["viewpoint", heading, elevation] at each step')
    return Answer(
        id=record.string("instr_id"),
        path=tuple(step[0] for step in steps),
        facing=tuple((float(step[1]), float(step[2])) for step in steps),
    )


def _is_pose(step: Any) -> bool:
    return (
        isinstance(step, list)
        and len(step) == 3
        and isinstance(step[0], str)
        and all(isinstance(angle, (int, float)) and not isinstance(angle, bool) for angle in step[1:])
    )


def _trajectory(answer: Answer) -> list[Any]:
    if answer.facing is None:
        return list(answer.path)
    return [[viewpoint, *angles] for viewpoint, angles in zip(answer.path, answer.facing, strict=True)]
