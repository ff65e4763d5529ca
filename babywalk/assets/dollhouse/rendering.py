"""What the 36 views of a viewpoint show: view features, and object boxes.

The feature of a view is a semantic vector, multiplied by a fixed random matrix. The matrix is the same for
all houses and seeds, so what an agent learns in one house holds in another. The columns of the semantic
vector, in this order:

- the room of the viewpoint (one column per kind of room), the same in all views;
- the rooms behind the doors in view;
- doors by kind, and stairs up and down;
- furniture by kind;
- colours, separately for each family of furniture (doors belong to the family "thing");
- materials;
- openness: the distance to the nearest wall.

The value for a thing is the square root of the share of the view that it covers, so twice as far away is half
as much.

Object boxes are those of a pinhole camera with the same 36 views.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.boxes import HEIGHT, WIDTH, Box, SeenObject, ViewpointObjects
from babywalk.assets.dollhouse.furniture import (
    COLOURS,
    DOORS,
    FAMILIES,
    KIND_NAMES,
    KINDS,
    MATERIALS,
    ROOMS,
    STAIRS,
)
from babywalk.assets.dollhouse.geometry import Floats
from babywalk.assets.dollhouse.house import DollHouse
from babywalk.assets.dollhouse.visibility import FAR, Thing, Visibility
from babywalk.common.seeding import generator

COLUMNS = (
    *(f"in {room}" for room in ROOMS),
    *(f"to {room}" for room in ROOMS),
    *DOORS,
    *STAIRS,
    *KIND_NAMES,
    *(f"{colour} {family}" for family in FAMILIES for colour in COLOURS),
    *MATERIALS,
    "open",
)
HEADINGS, ELEVATIONS = 12, (-30.0, 0.0, 30.0)  # of the 36 views, view = 12 * row + column

_COLUMN = {name: number for number, name in enumerate(COLUMNS)}
_FAMILY = {kind.name: kind.family for kind in KINDS}
_HALF_WIDE, _HALF_HIGH = np.radians(22.5), np.radians(30.0)  # radians, half the field of view
_EMBEDDING_SEED = 2020  # of the random matrix; never changes
_IN_ROOM = 0.5
NEAR = 3.0  # metres within which objects are boxed
_FOCAL = HEIGHT / 2 / np.tan(np.radians(30.0))  # pixels, for a vertical field of view of 60 degrees
_MIN_SIDE = 8  # pixels, the smallest width and height of a box
_GRID = np.stack(np.meshgrid(*[np.linspace(0, 1, 4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)


def semantics(house: DollHouse, visibility: Visibility) -> Floats:
    """The semantic vector of each view, (N, 36, columns)."""
    coverage = _coverage(visibility)  # (N, 36, T)
    vectors = coverage @ _column_marks(visibility.things)
    viewers = range(len(house.viewpoints))
    for number, thing in enumerate(visibility.things):
        if thing.door is not None:
            for viewer in viewers:
                kind = house.plan.rooms[room_behind(house, viewer, thing.door)].kind
                vectors[viewer, :, _COLUMN[f"to {kind}"]] += coverage[viewer, :, number]
    for viewer in viewers:
        vectors[viewer, :, _COLUMN[f"in {house.room_kind(viewer)}"]] = _IN_ROOM
    vectors[:, :, _COLUMN["open"]] = np.tile(_openness(visibility), (1, len(ELEVATIONS)))
    return vectors


def embed(vectors: Floats, *, width: int, noise: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """Semantic vectors times the fixed random matrix, plus noise, (..., width)."""
    projection = generator(_EMBEDDING_SEED, "dollhouse embedding", width).normal(size=(len(COLUMNS), width))
    features = vectors @ projection + noise * rng.normal(size=(*vectors.shape[:-1], width))
    # Rounded, because the order of additions differs between processors.
    return np.round(features, 4).astype(np.float32)


def room_behind(house: DollHouse, viewer: int, door: int) -> int:
    """The room on the far side of a door, seen from a viewpoint."""
    way = house.plan.doors[door]
    axis = 1 if way.along_x else 0
    beyond = way.centre[axis] > house.positions[viewer, axis]
    first, second = way.rooms
    first_is_higher = house.plan.rooms[first].rect.centre[axis] > way.centre[axis]
    return first if first_is_higher == beyond else second


def _coverage(visibility: Visibility) -> Floats:
    """The square root of the share of each view that each thing covers, (N, 36, T), from 0 to 1."""
    columns = np.arange(HEADINGS) * (2 * np.pi / HEADINGS)
    rows = np.radians(ELEVATIONS)
    middle = (visibility.bearing[:, None] - columns[None, :, None] + np.pi) % (
        2 * np.pi
    ) - np.pi  # (N, 12, T)
    wide = _overlap(middle + visibility.left[:, None], middle + visibility.right[:, None], _HALF_WIDE)
    above = visibility.low[:, None] - rows[None, :, None], visibility.high[:, None] - rows[None, :, None]
    high = _overlap(*above, _HALF_HIGH)  # (N, 3, T)
    both = high[:, :, None] * wide[:, None] * visibility.visible_share[:, None, None]  # (N, 3, 12, T)
    coverage: Floats = np.sqrt(both).reshape(len(both), -1, both.shape[-1])
    return coverage


def _overlap(low: Floats, high: Floats, half: float) -> Floats:
    """The share of the interval from -half to half that lies between low and high."""
    shared: Floats = np.clip(np.minimum(high, half) - np.maximum(low, -half), 0.0, None)
    return shared / (2 * half)


def _column_marks(things: tuple[Thing, ...]) -> Floats:
    """(T, columns) 1 in the columns of each thing's name, colour and material."""
    marks = np.zeros((len(things), len(COLUMNS)))
    for number, thing in enumerate(things):
        marks[number, _COLUMN[thing.name]] = 1.0
        if thing.colour:
            marks[number, _COLUMN[f"{thing.colour} {_FAMILY.get(thing.name, 'thing')}"]] = 1.0
        if thing.material:
            marks[number, _COLUMN[thing.material]] = 1.0
    return marks


def _openness(visibility: Visibility) -> Floats:
    """The distance to the nearest wall in each of the 12 headings, (N, 12), from 0 to 1."""
    rays = visibility.openness.shape[1]
    per_view = rays // HEADINGS
    spread = np.arange(-(per_view // 2), per_view // 2 + 1)
    index = (np.arange(HEADINGS)[:, None] * per_view + spread) % rays
    depths: Floats = visibility.openness[:, index].mean(axis=2) / FAR
    return depths


def boxes_at(house: DollHouse, visibility: Visibility, viewpoint: int) -> ViewpointObjects:
    """The visible things near a viewpoint, with their boxes."""
    near = (visibility.distance[viewpoint] <= NEAR) & (visibility.visible_share[viewpoint] > 0)
    objects = []
    for number in np.flatnonzero(near):
        box = np.array(visibility.things[number].box)
        points = box[:3] + _GRID * (box[3:] - box[:3]) - house.positions[viewpoint]
        found = _boxes(points)
        if found:
            views, boxes = zip(*found, strict=True)
            objects.append(SeenObject(str(number), visibility.things[number].name, views, boxes))
    return ViewpointObjects(house.scan, house.viewpoints[viewpoint], tuple(objects))


def _boxes(points: Floats) -> list[tuple[int, Box]]:
    """The views that show some of the points (P, 3), and their bounding box in each."""
    across, up, ahead = points @ _CAMERAS.transpose(1, 2, 0)  # (3, P, 36)
    front = ahead > 0.05
    depth = np.where(front, ahead, 1.0)
    x = np.where(front, WIDTH / 2 + _FOCAL * across / depth, np.nan)
    y = np.where(front, HEIGHT / 2 - _FOCAL * up / depth, np.nan)
    shows = np.flatnonzero(front.any(axis=0))
    x, y = x[:, shows], y[:, shows]
    x0, x1 = (np.clip(edge, 0, WIDTH).astype(int) for edge in (np.nanmin(x, axis=0), np.nanmax(x, axis=0)))
    y0, y1 = (np.clip(edge, 0, HEIGHT).astype(int) for edge in (np.nanmin(y, axis=0), np.nanmax(y, axis=0)))
    large = (x1 - x0 >= _MIN_SIDE) & (y1 - y0 >= _MIN_SIDE)
    rows = np.column_stack([shows, x0, y0, x1 - x0, y1 - y0])[large].tolist()
    return [(view, (left, top, width, height)) for view, left, top, width, height in rows]


def _cameras() -> Floats:
    """The axes right, up and ahead of each view, (36, 3, 3)."""
    axes = []
    for elevation in np.radians(ELEVATIONS):
        for heading in np.arange(HEADINGS) * (2 * np.pi / HEADINGS):
            sine, cosine = np.sin(heading), np.cos(heading)
            rise, level = np.sin(elevation), np.cos(elevation)
            axes.append(
                [
                    (cosine, -sine, 0.0),
                    (-sine * rise, -cosine * rise, level),
                    (sine * level, cosine * level, rise),
                ]
            )
    return np.array(axes)


_CAMERAS = _cameras()
