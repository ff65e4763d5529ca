"""Openness: how far one can walk and look in each direction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.geodesics import NOWHERE
from babywalk.buildings.houses import Houses
from babywalk.buildings.objects.part import Part, blank, raise_to
from babywalk.buildings.objects.visible import visible_pairs
from babywalk.buildings.panorama import COLUMNS, ROWS, STEP, direction, nearest_view
from babywalk.common.ragged import Integers

_FAR = 10.0  # metres that count 1; what is farther counts no more

_COLUMNS = ("walk", "next", "up", "down", "straight", "sight")
_WALK, _NEXT, _UP, _DOWN, _STRAIGHT, _SIGHT = range(len(_COLUMNS))


def openness_part(houses: Houses) -> Part:
    """The part "openness". Distances are in tens of metres, at most 1.

    Of the neighbours that lie in a view, entered there: "walk" is 1 where there is one, "next" the distance
    of the nearest, "up" and "down" the sine of the steepest climb and descent.
    Of a heading's sector of 30 degrees, entered in the views of all three rows: "straight" is the distance
    of the farthest viewpoint that a walk reaches without leaving the sector as seen from its start, "sight"
    that of the farthest visible viewpoint.
    """
    values = blank(len(houses.names), len(_COLUMNS))
    _neighbours(houses, values)
    _sectors(houses, values, _STRAIGHT, *straight_walks(houses))
    _sectors(houses, values, _SIGHT, *visible_pairs(houses))
    return Part(name="openness", columns=_COLUMNS, values=values)


def straight_walks(houses: Houses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Starts and what a walk reaches from there without leaving its sector, as pairs."""
    reached = np.zeros(len(houses.sight), dtype=np.bool_)
    start, end = _edges(houses)
    starts_of, ends_of = [start], [end]
    while len(start):
        reached[houses.row[start] + end] = True
        begin, bend = (np.repeat(side, houses.neighbours.shape[1]) for side in (start, end))
        onward = houses.neighbours[end].ravel().astype(np.int64)
        real = (onward != NOWHERE) & (onward != begin)
        begin, bend, onward = begin[real], bend[real], onward[real]
        new = ~reached[houses.row[begin] + onward] & (
            _sector(houses, begin, onward) == _sector(houses, begin, bend)
        )
        # Two ways may lead to one viewpoint in the same round.
        pairs = np.unique(begin[new] * len(houses.names) + onward[new])
        start, end = np.divmod(pairs, len(houses.names))
        starts_of.append(start)
        ends_of.append(end)
    return np.concatenate(starts_of), np.concatenate(ends_of)


def _neighbours(houses: Houses, values: NDArray[np.float16]) -> None:
    start, end = _edges(houses)
    offset = houses.positions[end] - houses.positions[start]
    heading, elevation = direction(offset)
    view = nearest_view(heading, elevation)
    length = np.linalg.norm(offset, axis=1)
    values[start, view, _WALK] = 1.0
    # Of several assignments to one place the last one stays.
    far_to_near = np.argsort(-length, kind="stable")
    values[start[far_to_near], view[far_to_near], _NEXT] = np.minimum(length / _FAR, 1.0)[far_to_near]
    for column, sine in ((_UP, np.sin(elevation)), (_DOWN, -np.sin(elevation))):
        raise_to(values, (start, view, np.full(len(start), column)), sine)


def _sectors(
    houses: Houses, values: NDArray[np.float16], column: int, start: Integers, end: Integers
) -> None:
    """Enter the distances of pairs in all rows of their sectors; the farthest stays."""
    length = np.linalg.norm(houses.positions[end] - houses.positions[start], axis=1)
    level, sector = np.minimum(length / _FAR, 1.0), _sector(houses, start, end)
    for row in range(ROWS):
        raise_to(values, (start, COLUMNS * row + sector, np.full(len(start), column)), level)


def _edges(houses: Houses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    start, slot = np.nonzero(houses.neighbours != NOWHERE)
    return start, houses.neighbours[start, slot].astype(np.int64)


def _sector(houses: Houses, start: Integers, end: Integers) -> NDArray[np.int64]:
    """The column of views whose heading is nearest to the direction from start to end."""
    heading, _ = direction(houses.positions[end] - houses.positions[start])
    nearest: NDArray[np.int64] = np.rint(heading / STEP).astype(np.int64) % COLUMNS
    return nearest
