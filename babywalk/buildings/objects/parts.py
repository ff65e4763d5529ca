"""A part: one block of columns of a view feature, which can be used or left out as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import NOWHERE, Houses
from babywalk.buildings.objects.sightings import FOCAL, PIXELS, PlacedObjects, Sights
from babywalk.buildings.panorama import COLUMNS, ROWS, STEP, VIEWS, direction, nearest_view
from babywalk.common.errors import DataError
from babywalk.common.ragged import Integers, Ragged, starts


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One block of columns of a view feature. Shapes: N viewpoints, 36 views, C columns."""

    name: str  # "names", "groups", "distant", "rooms", "openness"
    columns: tuple[str, ...]  # C column names, distinct
    values: NDArray[np.float16]  # (N, 36, C), between 0 and 1


def blank(viewpoints: int, columns: int) -> NDArray[np.float16]:
    """(N, 36, C) zeros: nothing is seen."""
    return np.zeros((viewpoints, VIEWS, columns), dtype=np.float16)


def raise_to(
    values: NDArray[np.float16],  # (N, 36, C), changed in place
    at: tuple[Integers, Integers, Integers],  # viewpoints, views and columns, all of one shape
    level: NDArray[np.float64],  # of that shape
) -> None:
    """Raise entries to a level that several may ask for: the highest stays."""
    flat = values.reshape(-1)  # a view of the same memory: the array is contiguous
    np.maximum.at(flat, np.ravel_multi_index(at, values.shape), level.astype(np.float16))


def fill(
    viewpoints: int,  # N
    columns: int,  # C
    *,
    of: Ragged,  # the columns of each object
    where: tuple[Integers, Integers],  # (B,) viewpoints and (B,) views
    objects: Integers,  # (B,) what is seen there
    areas: NDArray[np.float64],  # (B,) shares of the view
) -> NDArray[np.float16]:  # (N, 36, C)
    """Enter objects in the columns they belong to.

    An entry is the square root of the share of the view that its things fill: the side of a square of
    that area, so that a thing twice as far away counts half, and a cup is not lost beside a wall. Areas of
    several things add up, at most to the whole view; where boxes overlap, the overlap counts twice.
    """
    taken = of.take(objects)
    row = np.repeat(where[0].astype(np.int64) * VIEWS + where[1], taken.lengths)
    entry, thing = np.unique(row * columns + taken.values, return_inverse=True)
    share = np.bincount(thing, weights=np.repeat(areas, taken.lengths), minlength=len(entry))
    values = blank(viewpoints, columns)
    values.reshape(-1)[entry] = np.sqrt(np.minimum(share, 1.0))
    return values


def visible_pairs(houses: Houses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(V,) viewpoints and (V,) what they see from there, sorted by the former."""
    eyes = np.repeat(np.arange(len(houses.names)), np.diff(houses.first)[houses.house_of])
    pairs = np.flatnonzero(houses.sight)
    eyes = eyes[pairs]
    return eyes, pairs - houses.row[eyes]


FARTHEST = 12.0  # metres; a chair there fills a four-hundredth of a view


def distant_objects(
    houses: Houses, sights: Sights, placed: PlacedObjects, *, of: Ragged, columns: int
) -> NDArray[np.float16]:
    """(N, 36, C) the objects each viewpoint sees from afar; `of` gives the C columns of each object."""
    eye, seen = viewers(houses, sights, placed)
    offset = placed.positions[seen] - houses.positions[eye]
    # As large as it would be in the middle of the view.
    area = placed.extents[seen] / (offset**2).sum(axis=1) * FOCAL**2 / PIXELS
    view = nearest_view(*direction(offset))
    return fill(len(houses.names), columns, of=of, where=(eye, view), objects=seen, areas=area)


def viewers(
    houses: Houses, sights: Sights, placed: PlacedObjects
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Viewpoints and the objects they see from afar, as pairs, sorted and distinct.

    Who sees a viewpoint that boxes an object sees the object. Boxes were drawn around everything in
    sight within a radius, so a viewpoint as near as one that boxes the object, and which does not box it
    itself, has it hidden.
    """
    objects = len(placed.reach)
    eye, other = visible_pairs(houses)
    order = np.argsort(other, kind="stable")
    watchers = Ragged(eye[order].astype(np.int32), starts(np.bincount(other, minlength=len(houses.names))))
    taken = watchers.take(sights.viewpoints)
    pairs = np.unique(taken.values.astype(np.int64) * objects + np.repeat(sights.objects, taken.lengths))
    boxed = sights.viewpoints.astype(np.int64) * objects + sights.objects
    eye, seen = np.divmod(pairs[~np.isin(pairs, boxed)], max(objects, 1))
    distance = np.linalg.norm(placed.positions[seen] - houses.positions[eye], axis=1)
    kept = (placed.reach[seen] < distance) & (distance <= FARTHEST)
    return eye[kept], seen[kept]


_FADING = 5.0  # metres over which a room in sight counts 1/e


def room_part(houses: Houses, rooms: Mapping[tuple[str, str], int]) -> Part:
    """The part "rooms"; what is not known is zero.

    "room k" is 1 in all views of a viewpoint that stands in a room of class k. "sees room k" is
    exp(-metres / 5) to the nearest visible viewpoint of class k that lies in the view.
    """
    classes = np.array(
        [
            rooms.get((houses.scans[house], name), 0)
            for house, name in zip(houses.house_of.tolist(), houses.names, strict=True)
        ]
    )
    if (classes < 0).any():
        first = np.flatnonzero(classes < 0)[0]
        scan = houses.scans[houses.house_of[first]]
        raise DataError(
            f"Viewpoint {houses.names[first]!r} of house {scan!r} has room class {classes[first]}; "
            f"expected a number from 1."
        )
    count = max(rooms.values(), default=0)  # 12 in Matterport3D's labels
    values = blank(len(houses.names), 2 * count)
    known = np.flatnonzero(classes)
    values[known, :, classes[known] - 1] = 1.0

    eye, seen = visible_pairs(houses)
    told = classes[seen] > 0
    eye, seen = eye[told], seen[told]
    offset = houses.positions[seen] - houses.positions[eye]
    nearness = np.exp(-np.linalg.norm(offset, axis=1) / _FADING)
    raise_to(values, (eye, nearest_view(*direction(offset)), count + classes[seen] - 1), nearness)
    return Part(
        name="rooms",
        columns=tuple(f"{what} {number}" for what in ("room", "sees room") for number in range(1, count + 1)),
        values=values,
    )


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
