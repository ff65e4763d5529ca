"""Paths made ready to be measured: checked, and without repeated ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import Houses
from babywalk.common.errors import DataError
from babywalk.common.ragged import Integers, Ragged, ranges, starts


def ready(houses: Houses, paths: Ragged, what: str) -> Ragged:
    """Paths that each stay in one house, none empty, none with a repeated end; `what` names one in errors."""
    _check(houses, paths, what)
    return without_stops(paths)


def without_stops(paths: Ragged) -> Ragged:
    """Each path up to its first arrival at the end: a viewpoint repeated there is an agent standing still.

    No path may be empty.
    """
    start, values = paths.start[:-1], paths.values
    if not ((paths.lengths > 1) & (paths.lasts == values[paths.start[1:] - 2])).any():
        return paths
    moving = values != np.repeat(paths.lasts, paths.lengths)
    # The last viewpoint that is not the end; the place before the path where there is none.
    before = np.maximum.reduceat(np.where(moving, np.arange(len(values)), -1), start)
    kept = np.maximum(before, start - 1) + 2 - start
    cut = starts(kept)
    return Ragged(values[ranges(start, kept, cut)], cut)


def filled(paths: Ragged, rows: Integers) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(longest, rows) the given paths, each filled up with its last viewpoint, and (rows,) their lengths."""
    start, last = paths.start[:-1][rows], paths.start[1:][rows] - 1
    lengths = last - start + 1
    place = np.arange(lengths.max(initial=1))[:, None] + start
    return paths.values[np.minimum(place, last)], lengths


def _check(houses: Houses, paths: Ragged, what: str) -> None:
    empty = np.flatnonzero(paths.lengths == 0)
    if len(empty):
        raise DataError(f"{what} {empty[0]} is empty; a path has at least the viewpoint where it starts.")
    values = paths.values
    strange = np.flatnonzero((values < 0) | (values >= len(houses.names)))
    if len(strange):
        raise DataError(
            f"{what} {_row_at(paths, strange[0])} has viewpoint {values[strange[0]]}; "
            f"expected numbers from 0 to {len(houses.names) - 1}."
        )
    home = np.repeat(houses.house_of[paths.firsts], paths.lengths)
    strange = np.flatnonzero(houses.house_of[values] != home)
    if len(strange):
        raise DataError(
            f"{what} {_row_at(paths, strange[0])} has viewpoint {houses.names[values[strange[0]]]!r}; "
            f"expected viewpoints of {houses.scans[home[strange[0]]]}, where it starts."
        )


def _row_at(paths: Ragged, position: int) -> int:
    return int(np.searchsorted(paths.start, position, side="right")) - 1
