"""View features: what each view holds as a semantic vector, and that vector through a fixed random map.

The map is the same for all houses and all seeds, so what an agent learns to see in one house it also sees
in another. The columns of the semantic vector, in this order:

- the room one is in (as many columns as kinds of rooms), the same in all views;
- the rooms behind the doors in view;
- doors by kind, and stairs up and down;
- furniture by kind;
- colours, separately for seats, surfaces, soft things and other things (doors are other things);
- materials;
- openness: how far one sees.

A thing counts as the square root of the share of the view that it covers, so twice as far is half as much.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.dollhouse.catalogue import (
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
from babywalk.assets.dollhouse.sight import FAR, Sight, Thing
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
_HALF_WIDE, _HALF_HIGH = np.radians(22.5), np.radians(30.0)  # what a view is sensitive to
_EMBEDDING_SEED = 2020  # never changes: it is the "eye" of every dollhouse
_IN_ROOM = 0.5


def semantics(house: DollHouse, sight: Sight) -> Floats:
    """What each view of each viewpoint holds, (N, 36, columns)."""
    cover = _cover(sight)  # (N, 36, T)
    vectors = cover @ _marks(sight.things)
    viewers = range(len(house.viewpoints))
    for number, thing in enumerate(sight.things):
        if thing.door is not None:
            for viewer in viewers:
                kind = house.plan.rooms[room_behind(house, viewer, thing.door)].kind
                vectors[viewer, :, _COLUMN[f"to {kind}"]] += cover[viewer, :, number]
    for viewer in viewers:
        vectors[viewer, :, _COLUMN[f"in {house.room_kind(viewer)}"]] = _IN_ROOM
    vectors[:, :, _COLUMN["open"]] = np.tile(_open(sight), (1, len(ELEVATIONS)))
    return vectors


def embed(vectors: Floats, *, width: int, noise: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """Semantic vectors through the fixed random map, with noise, (..., width)."""
    eye = generator(_EMBEDDING_SEED, "dollhouse embedding", width).normal(size=(len(COLUMNS), width))
    features = vectors @ eye + noise * rng.normal(size=(*vectors.shape[:-1], width))
    # Rounded so that the order of additions, which differs between processors, leaves no trace.
    return np.round(features, 4).astype(np.float32)


def room_behind(house: DollHouse, viewer: int, door: int) -> int:
    """Which of a door's rooms lies on the far side of it."""
    way = house.plan.doors[door]
    axis = 1 if way.along_x else 0
    beyond = way.centre[axis] > house.positions[viewer, axis]
    first, second = way.rooms
    first_is_higher = house.plan.rooms[first].rect.centre[axis] > way.centre[axis]
    return first if first_is_higher == beyond else second


def _cover(sight: Sight) -> Floats:
    """How much of each view each thing covers, (N, 36, T), from 0 to 1."""
    columns = np.arange(HEADINGS) * (2 * np.pi / HEADINGS)
    rows = np.radians(ELEVATIONS)
    middle = (sight.bearing[:, None] - columns[None, :, None] + np.pi) % (2 * np.pi) - np.pi  # (N, 12, T)
    wide = _overlap(middle + sight.left[:, None], middle + sight.right[:, None], _HALF_WIDE)
    above = sight.low[:, None] - rows[None, :, None], sight.high[:, None] - rows[None, :, None]
    high = _overlap(*above, _HALF_HIGH)  # (N, 3, T)
    both = high[:, :, None] * wide[:, None] * sight.shown[:, None, None]  # (N, 3, 12, T)
    cover: Floats = np.sqrt(both).reshape(len(both), -1, both.shape[-1])
    return cover


def _overlap(low: Floats, high: Floats, half: float) -> Floats:
    """The share of the interval from -half to half that lies between low and high."""
    shared: Floats = np.clip(np.minimum(high, half) - np.maximum(low, -half), 0.0, None)
    return shared / (2 * half)


def _marks(things: tuple[Thing, ...]) -> Floats:
    """The columns that each thing marks, (T, columns)."""
    marks = np.zeros((len(things), len(COLUMNS)))
    for number, thing in enumerate(things):
        marks[number, _COLUMN[thing.name]] = 1.0
        if thing.colour:
            marks[number, _COLUMN[f"{thing.colour} {_FAMILY.get(thing.name, 'thing')}"]] = 1.0
        if thing.material:
            marks[number, _COLUMN[thing.material]] = 1.0
    return marks


def _open(sight: Sight) -> Floats:
    """How far one sees in each of the 12 headings, (N, 12), from 0 to 1."""
    rays = sight.openness.shape[1]
    per_view = rays // HEADINGS
    spread = np.arange(-(per_view // 2), per_view // 2 + 1)
    index = (np.arange(HEADINGS)[:, None] * per_view + spread) % rays
    depths: Floats = sight.openness[:, index].mean(axis=2) / FAR
    return depths
