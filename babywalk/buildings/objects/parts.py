"""Parts of the `objects` view features: blocks of columns that a spec can select.

The parts "names" and "groups" are filled from the boxes of a viewpoint, "distant" from objects boxed at other
viewpoints, "rooms" from room classes, and "openness" from the navigation graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import NOWHERE, Houses
from babywalk.buildings.objects.placement import FOCAL, PIXELS, ObjectRays, PlacedObjects
from babywalk.buildings.panorama import COLUMNS, ROWS, STEP, VIEWS, direction, nearest_view
from babywalk.common.errors import DataError
from babywalk.common.ragged import Integers, Ragged, starts

MAX_DISTANT = 12.0  # metres; a chair at this distance covers 1/400 of a view
_ROOM_DECAY = 5.0  # metres over which the value of a visible room falls to 1/e
_MAX_DISTANCE = 10.0  # metres; distances are divided by it and clipped to 1

_COLUMNS = ("walk", "next", "up", "down", "straight", "sight")
_WALK, _NEXT, _UP, _DOWN, _STRAIGHT, _SIGHT = range(len(_COLUMNS))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One named block of feature columns. Shapes: N viewpoints, 36 views, C columns."""

    name: str  # "names", "groups", "distant", "rooms", "openness"
    columns: tuple[str, ...]  # C column names, distinct
    values: NDArray[np.float16]  # (N, 36, C), between 0 and 1


def zeros(viewpoints: int, columns: int) -> NDArray[np.float16]:
    """(N, 36, C) zeros."""
    return np.zeros((viewpoints, VIEWS, columns), dtype=np.float16)


def raise_to(
    values: NDArray[np.float16],  # (N, 36, C), changed in place
    at: tuple[Integers, Integers, Integers],  # viewpoints, views and columns, all of one shape
    level: NDArray[np.float64],  # of that shape
) -> None:
    """Set entries to the maximum of their value and `level`; indices may repeat."""
    flat = values.reshape(-1)  # shares memory: the array is contiguous
    np.maximum.at(flat, np.ravel_multi_index(at, values.shape), level.astype(np.float16))


def fill(
    viewpoints: int,  # N
    columns: int,  # C
    *,
    of: Ragged,  # the columns of each object
    where: tuple[Integers, Integers],  # (B,) viewpoints and (B,) views
    objects: Integers,  # (B,) objects seen there
    areas: NDArray[np.float64],  # (B,) shares of the view
) -> NDArray[np.float16]:  # (N, 36, C)
    """The share of each view that the objects of each column cover, as its square root.

    With the square root, an object twice as far away has half the value, and small objects are not lost
    beside large ones. Areas of several objects add up, at most to the whole view; overlaps count twice.
    """
    taken = of.take(objects)
    row = np.repeat(where[0].astype(np.int64) * VIEWS + where[1], taken.lengths)
    entry, thing = np.unique(row * columns + taken.values, return_inverse=True)
    share = np.bincount(thing, weights=np.repeat(areas, taken.lengths), minlength=len(entry))
    values = zeros(viewpoints, columns)
    values.reshape(-1)[entry] = np.sqrt(np.minimum(share, 1.0))
    return values


def visible_pairs(houses: Houses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(V,) viewpoints and (V,) the viewpoints they see, sorted by the former."""
    viewer = np.repeat(np.arange(len(houses.names)), np.diff(houses.first)[houses.house_of])
    pairs = np.flatnonzero(houses.visible)
    viewer = viewer[pairs]
    return viewer, pairs - houses.row[viewer]


def distant_objects(
    houses: Houses, rays: ObjectRays, placed: PlacedObjects, *, of: Ragged, columns: int
) -> NDArray[np.float16]:
    """(N, 36, C) the distant objects each viewpoint sees; `of` gives the columns of each object."""
    viewer, seen = viewers(houses, rays, placed)
    offset = placed.positions[seen] - houses.positions[viewer]
    # The area it would have at the centre of the view.
    area = placed.extents[seen] / (offset**2).sum(axis=1) * FOCAL**2 / PIXELS
    view = nearest_view(*direction(offset))
    return fill(len(houses.names), columns, of=of, where=(viewer, view), objects=seen, areas=area)


def viewers(
    houses: Houses, rays: ObjectRays, placed: PlacedObjects
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Viewpoints and the distant objects they see, as pairs, sorted and distinct.

    A viewpoint sees an object if it sees a viewpoint with a box of it. Boxes cover everything visible within
    a radius, so a viewpoint as near to the object as one with a box, but without one, does not see it.
    """
    objects = len(placed.reach)
    viewer, other = visible_pairs(houses)
    order = np.argsort(other, kind="stable")
    counts = np.bincount(other, minlength=len(houses.names))
    viewers_by_viewpoint = Ragged(viewer[order].astype(np.int32), starts(counts))
    taken = viewers_by_viewpoint.take(rays.viewpoints)
    pairs = np.unique(taken.values.astype(np.int64) * objects + np.repeat(rays.objects, taken.lengths))
    boxed = rays.viewpoints.astype(np.int64) * objects + rays.objects
    viewer, seen = np.divmod(pairs[~np.isin(pairs, boxed)], max(objects, 1))
    distance = np.linalg.norm(placed.positions[seen] - houses.positions[viewer], axis=1)
    kept = (placed.reach[seen] < distance) & (distance <= MAX_DISTANT)
    return viewer[kept], seen[kept]


def room_part(houses: Houses, rooms: Mapping[tuple[str, str], int]) -> Part:
    """The part "rooms"; unknown classes are zero.

    "room k" is 1 in all views of a viewpoint in a room of class k. "sees room k" is exp(-metres / 5) to the
    nearest visible viewpoint of class k in the direction of the view. The published classes cover three
    quarters of the viewpoints of R2R's training and test houses, none of val_unseen.
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
    values = zeros(len(houses.names), 2 * count)
    known = np.flatnonzero(classes)
    values[known, :, classes[known] - 1] = 1.0

    viewer, seen = visible_pairs(houses)
    has_class = classes[seen] > 0
    viewer, seen = viewer[has_class], seen[has_class]
    offset = houses.positions[seen] - houses.positions[viewer]
    nearness = np.exp(-np.linalg.norm(offset, axis=1) / _ROOM_DECAY)
    raise_to(values, (viewer, nearest_view(*direction(offset)), count + classes[seen] - 1), nearness)
    return Part(
        name="rooms",
        columns=tuple(f"{what} {number}" for what in ("room", "sees room") for number in range(1, count + 1)),
        values=values,
    )


def openness_part(houses: Houses) -> Part:
    """The part "openness". Distances are in tens of metres, at most 1.

    For the neighbours in the direction of a view: "walk" is 1 if there is one, "next" is the distance of the
    nearest, "up" and "down" are the sines of the steepest ascent and descent.
    For a sector of 30 degrees, in the views of all three rows: "straight" is the distance of the farthest
    viewpoint that can be reached without leaving the sector as seen from the start, "sight" that of the
    farthest visible viewpoint.
    """
    values = zeros(len(houses.names), len(_COLUMNS))
    _neighbours(houses, values)
    _sectors(houses, values, _STRAIGHT, *straight_walks(houses))
    _sectors(houses, values, _SIGHT, *visible_pairs(houses))
    return Part(name="openness", columns=_COLUMNS, values=values)


def straight_walks(houses: Houses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of viewpoints: the second can be reached from the first without leaving one sector."""
    reached = np.zeros(len(houses.visible), dtype=np.bool_)
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
        # Two paths may reach the same viewpoint in one iteration.
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
    # The last of several assignments to one entry takes effect.
    far_to_near = np.argsort(-length, kind="stable")
    values[start[far_to_near], view[far_to_near], _NEXT] = np.minimum(length / _MAX_DISTANCE, 1.0)[
        far_to_near
    ]
    for column, sine in ((_UP, np.sin(elevation)), (_DOWN, -np.sin(elevation))):
        raise_to(values, (start, view, np.full(len(start), column)), sine)


def _sectors(
    houses: Houses, values: NDArray[np.float16], column: int, start: Integers, end: Integers
) -> None:
    """Set the distances of pairs in all rows of their sectors; the largest takes effect."""
    length = np.linalg.norm(houses.positions[end] - houses.positions[start], axis=1)
    level, sector = np.minimum(length / _MAX_DISTANCE, 1.0), _sector(houses, start, end)
    for row in range(ROWS):
        raise_to(values, (start, COLUMNS * row + sector, np.full(len(start), column)), level)


def _edges(houses: Houses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    start, slot = np.nonzero(houses.neighbours != NOWHERE)
    return start, houses.neighbours[start, slot].astype(np.int64)


def _sector(houses: Houses, start: Integers, end: Integers) -> NDArray[np.int64]:
    """The column of views with the heading nearest to the direction from start to end."""
    heading, _ = direction(houses.positions[end] - houses.positions[start])
    nearest: NDArray[np.int64] = np.rint(heading / STEP).astype(np.int64) % COLUMNS
    return nearest
