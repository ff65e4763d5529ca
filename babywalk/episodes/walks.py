"""The walks of one split: paths in the global index of viewpoints, with their instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.r2r import Walk, read_walks
from babywalk.buildings.houses import Houses
from babywalk.common.errors import DataError
from babywalk.common.ragged import Ragged, starts


@dataclass(frozen=True, slots=True, eq=False)
class Walks:
    """Paths and instructions as flat arrays. Shapes: W walks, T texts."""

    path_ids: NDArray[np.int64]  # (W,)
    headings: NDArray[np.float64]  # (W,) radians at the start
    paths: Ragged  # W rows of viewpoints, none empty
    texts: tuple[str, ...]  # T instructions, those of one walk consecutive
    first_text: NDArray[np.int64]  # (W + 1,)
    has_goals: bool  # False in a test split, whose paths are their start alone
    distances: NDArray[np.float64]  # (W,) metres along the path as published; NaN: not published

    @classmethod
    def of(cls, walks: Sequence[Walk], houses: Houses, *, source: Path) -> Walks:
        """Convert walks to the global index; each must follow edges. `source` is for error messages."""
        paths = Ragged.of([_numbers(walk, houses, source) for walk in walks])
        _check_edges(paths, walks, houses, source)
        return cls(
            path_ids=np.array([walk.path_id for walk in walks], dtype=np.int64),
            headings=np.array([walk.heading for walk in walks], dtype=np.float64),
            paths=paths,
            texts=tuple(text for walk in walks for text in walk.instructions),
            first_text=starts([len(walk.instructions) for walk in walks]),
            has_goals=all(walk.has_goal for walk in walks),
            distances=np.array(
                [np.nan if walk.distance is None else walk.distance for walk in walks], dtype=np.float64
            ),
        )

    def __len__(self) -> int:
        return len(self.path_ids)


def load_walks(file: Path, houses: Houses) -> Walks:
    """Read one R2R file."""
    return Walks.of(read_walks(file), houses, source=file)


def _numbers(walk: Walk, houses: Houses, source: Path) -> list[int]:
    where = f"{source}: path_id {walk.path_id}"
    if walk.scan not in houses.scans:
        raise DataError(f"{where}: field 'scan' is {walk.scan!r}; expected a house with a connectivity file.")
    numbers = houses.viewpoints(walk.scan)
    for viewpoint in walk.path:
        if viewpoint not in numbers:
            raise DataError(
                f"{where}: field 'path' has {viewpoint!r}; expected included viewpoints of {walk.scan}."
            )
    return [numbers[viewpoint] for viewpoint in walk.path]


def _check_edges(paths: Ragged, walks: Sequence[Walk], houses: Houses, source: Path) -> None:
    inside = np.ones(len(paths.values), dtype=bool)
    inside[paths.start[1:-1] - 1] = False  # not an edge: from the end of one path to the start of the next
    step = np.flatnonzero(inside[:-1])
    broken = step[~houses.adjacent(paths.values[step], paths.values[step + 1])]
    if len(broken):
        walk = walks[int(np.searchsorted(paths.start, broken[0], side="right")) - 1]
        a, b = (houses.names[viewpoint] for viewpoint in paths.values[broken[0] : broken[0] + 2])
        raise DataError(
            f"{source}: path_id {walk.path_id}: field 'path' goes from {a!r} to {b!r}; "
            f"expected steps along edges of {walk.scan}."
        )
