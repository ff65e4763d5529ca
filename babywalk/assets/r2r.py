"""R2R: paths with instructions, `R2R_<split>.json`.

A list of `{scan, path_id, path[viewpoint], heading, distance, instructions[]}`; `distance` is the length of
the path in metres. In a test split the goals are not published: the path is the start alone, and there is no
distance. R4R, R6R and R8R files have the same format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from babywalk.assets.records import Record, records
from babywalk.common.errors import DataError, shortlist
from babywalk.common.files import read_json, write_json

SPLITS = ("train", "val_seen", "val_unseen", "test")


@dataclass(frozen=True, slots=True)
class Walk:
    """A path through a house and the instructions that describe it."""

    scan: str
    path_id: int
    path: tuple[str, ...]  # viewpoint ids; only the start if the goal is not published
    heading: float  # radians at the start, 0 along +y, clockwise
    instructions: tuple[str, ...]
    distance: float | None = None  # metres along the path, None if not published

    @property
    def has_goal(self) -> bool:
        """Whether the goal is published; if not, the record is a start alone, without a distance."""
        return len(self.path) > 1 or self.distance is not None


def r2r_file(folder: Path, split: str) -> Path:
    """The file of a split in a folder of raw R2R files."""
    return folder / f"R2R_{split}.json"


def read_walks(file: Path) -> list[Walk]:
    """Read and check one split."""
    walks = [read_walk(record) for record in records(file, read_json(file))]
    duplicates = [path_id for path_id, count in Counter(walk.path_id for walk in walks).items() if count > 1]
    if duplicates:
        raise DataError(
            f"{file}: field 'path_id' must be unique; found more than once: {shortlist(duplicates)}."
        )
    return walks


def read_walk(record: Record) -> Walk:
    """Read and check one record."""
    return Walk(
        scan=record.string("scan"),
        path_id=record.integer("path_id"),
        path=tuple(record.strings("path")),
        heading=record.number("heading"),
        instructions=tuple(record.strings("instructions")),
        distance=record.number("distance") if "distance" in record.fields else None,
    )


def write_walks(file: Path, walks: Iterable[Walk]) -> None:
    """Write one split in the raw format."""
    write_json(file, [walk_fields(walk) for walk in walks])


def walk_fields(walk: Walk) -> dict[str, Any]:
    """A walk as the fields of its record."""
    distance = {} if walk.distance is None else {"distance": walk.distance}
    return distance | {
        "scan": walk.scan,
        "path_id": walk.path_id,
        "path": list(walk.path),
        "heading": walk.heading,
        "instructions": list(walk.instructions),
    }
