"""R2R: described walks, `R2R_<split>.json`.

A list of `{scan, path_id, path[viewpoint], heading, distance, instructions[]}`. In a test split the path
is its first viewpoint alone and there is no distance: where the walk leads is the publisher's secret.
R4R, R6R and R8R files have the same format.
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


@dataclass(frozen=True, slots=True)
class Walk:
    """A path through a house and what people said to describe it."""

    scan: str
    path_id: int
    path: tuple[str, ...]  # viewpoint ids; the first alone in a test split
    heading: float  # radians at the start, 0 along +y, clockwise
    instructions: tuple[str, ...]
    distance: float | None = None  # metres, None in a test split


def r2r_file(folder: Path, split: str) -> Path:
    """Where a split lies in a folder of raw R2R files."""
    return folder / f"R2R_{split}.json"


def read_walks(file: Path) -> list[Walk]:
    """Read and check one split."""
    walks = [read_walk(record) for record in records(file, read_json(file))]
    twice = [path_id for path_id, count in Counter(walk.path_id for walk in walks).items() if count > 1]
    if twice:
        raise DataError(f"{file}: field 'path_id' must be unique; found more than once: {shortlist(twice)}.")
    return walks


def read_walk(record: Record) -> Walk:
    """Read and check one record."""
    return Walk(
        scan=record.text("scan"),
        path_id=record.whole("path_id"),
        path=tuple(record.texts("path")),
        heading=record.number("heading"),
        instructions=tuple(record.texts("instructions")),
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
