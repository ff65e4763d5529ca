"""Visibility: which furniture, doors and stairs each viewpoint sees, what share of each, and where.

Walls occlude what is behind them except through doors; tall furniture occludes too. From the landing of the
stairs both storeys are visible, but not far.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from babywalk.assets.dollhouse.floorplan import STOREY_HEIGHT, walls
from babywalk.assets.dollhouse.furniture import STAIRS
from babywalk.assets.dollhouse.geometry import Bools, Floats, Rect, crossings, ray_lengths
from babywalk.assets.dollhouse.house import LANDING, DollHouse

FAR = 8.0  # metres; free space beyond is not measured
_FROM_LANDING = 5.0  # metres visible from the landing of the stairs
_DOOR_HEIGHT = 2.1
_TALL = 1.6  # metres; furniture at least this high occludes


@dataclass(frozen=True, slots=True)
class Thing:
    """Anything visible: a piece of furniture, a door, or a flight of stairs.

    A flight of stairs leads up from below and down from above, so it is one thing per level.
    """

    name: str
    colour: str | None
    material: str | None
    level: int
    box: tuple[float, float, float, float, float, float]  # x0, y0, z0, x1, y1, z1
    room: int | None = None  # of furniture
    door: int | None = None  # index into the doors of the plan


@dataclass(frozen=True, slots=True, eq=False)
class Visibility:
    """All things of a house as seen from all its viewpoints. Shapes: N viewpoints, T things."""

    things: tuple[Thing, ...]
    visible_share: Floats  # (N, T) the share of a thing that is not occluded
    distance: Floats  # (N, T) horizontal metres to the nearest point of a thing
    bearing: Floats  # (N, T) the heading to a thing's middle
    left: Floats  # (N, T) radians from the bearing to its left edge, not positive
    right: Floats  # (N, T) radians from the bearing to its right edge, not negative
    low: Floats  # (N, T) elevation of its lower edge
    high: Floats  # (N, T) elevation of its upper edge
    openness: Floats  # (N, R) metres to the nearest wall, for R headings from 0 clockwise
    visible: Bools  # (N, N) True where one viewpoint sees the other


def compute_visibility(house: DollHouse, *, rays: int = 72) -> Visibility:
    """What every viewpoint of a house sees."""
    things = _things(house)
    boxes = np.array([thing.box for thing in things])
    eyes = house.positions
    middle = (boxes[:, :2] + boxes[:, 3:5]) / 2
    to_middle = middle[None] - eyes[:, None, :2]
    bearing = np.arctan2(to_middle[..., 0], to_middle[..., 1]) % (2 * np.pi)
    left, right = _edges(boxes, eyes, bearing)
    outside = np.maximum(
        np.maximum(boxes[None, :, :2] - eyes[:, None, :2], eyes[:, None, :2] - boxes[None, :, 3:5]), 0.0
    )
    near = np.hypot(outside[..., 0], outside[..., 1])
    low, high = _elevations(boxes, eyes, near)
    headings = np.arange(rays) * (2 * np.pi / rays)
    return Visibility(
        things=things,
        visible_share=_visible_share(house, things, boxes),
        distance=near,
        bearing=bearing,
        left=left,
        right=right,
        low=low,
        high=high,
        openness=_openness(house, np.column_stack([np.sin(headings), np.cos(headings)])),
        visible=_visible(house),
    )


def _things(house: DollHouse) -> tuple[Thing, ...]:
    things = []
    for piece in house.furniture:
        floor = piece.storey * STOREY_HEIGHT
        box = _box(piece.rect, floor + piece.low, floor + piece.high)
        things.append(
            Thing(piece.kind.name, piece.colour, piece.material, piece.storey, box, room=piece.room)
        )
    for number, door in enumerate(house.plan.doors):
        if "stairs" in [house.plan.rooms[room].kind for room in door.rooms]:
            continue
        floor = door.storey * STOREY_HEIGHT
        box = _box(Rect(*door.gap), floor, floor + _DOOR_HEIGHT)
        things.append(Thing(door.kind, door.colour, door.material, door.storey, box, door=number))
    if house.plan.stairs:
        up, down = STAIRS
        half = STOREY_HEIGHT / 2
        lower = _box(house.plan.stairs.lower, 0.0, half)
        upper = _box(house.plan.stairs.upper, half, STOREY_HEIGHT)
        for name, level, box in (
            (up, 0, lower),
            (down, LANDING, lower),
            (up, LANDING, upper),
            (down, 1, upper),
        ):
            things.append(Thing(name, None, None, level, box))
    return tuple(things)


def _box(rect: Rect, low: float, high: float) -> tuple[float, float, float, float, float, float]:
    return rect.x0, rect.y0, round(low, 2), rect.x1, rect.y1, round(high, 2)


def _edges(boxes: Floats, eyes: Floats, bearing: Floats) -> tuple[Floats, Floats]:
    """The angles from a thing's middle to its left and right edges, seen from each viewpoint."""
    x = boxes[:, [0, 0, 3, 3]][None] - eyes[:, None, None, 0]
    y = boxes[:, [1, 4, 1, 4]][None] - eyes[:, None, None, 1]
    angle = (np.arctan2(x, y) - bearing[..., None] + np.pi) % (2 * np.pi) - np.pi  # (N, T, 4)
    return angle.min(axis=2), angle.max(axis=2)


def _elevations(boxes: Floats, eyes: Floats, near: Floats) -> tuple[Floats, Floats]:
    sides = np.hypot(boxes[:, 3] - boxes[:, 0], boxes[:, 4] - boxes[:, 1])
    near = np.maximum(near, 0.3)
    far = near + sides[None]
    below = boxes[None, :, 2] - eyes[:, None, 2]
    above = boxes[None, :, 5] - eyes[:, None, 2]
    low = np.minimum(np.arctan2(below, near), np.arctan2(below, far))
    high = np.maximum(np.arctan2(above, near), np.arctan2(above, far))
    return low, high


def _visible_share(house: DollHouse, things: tuple[Thing, ...], boxes: Floats) -> Floats:
    """The share of five points of each thing, its corners and middle, that each viewpoint sees: (N, T)."""
    levels = np.array(house.levels)
    share = np.array([[0.08, 0.08], [0.08, 0.92], [0.92, 0.08], [0.92, 0.92], [0.5, 0.5]])
    points = boxes[:, None, :2] + share[None] * (boxes[:, None, 3:5] - boxes[:, None, :2])  # (T, 5, 2)
    thing_levels = np.array([thing.level for thing in things])
    visible_share = np.zeros((len(levels), len(things)))
    for storey in range(house.plan.storeys):
        which = np.flatnonzero(thing_levels == storey)
        wall, screens, owner = _barriers(house, storey)
        own = np.repeat(which, share.shape[0])[:, None] == owner[None]  # a thing never occludes itself
        ends = points[which].reshape(-1, 2)
        for viewer in np.flatnonzero((levels == storey) | (levels == LANDING)):
            starts = np.broadcast_to(house.positions[viewer, :2], ends.shape)
            hidden = crossings(starts, ends, wall).any(axis=1)
            hidden |= (crossings(starts, ends, screens) & ~own).any(axis=1)
            if levels[viewer] == LANDING:
                hidden |= np.hypot(*(ends - starts).T) > _FROM_LANDING
                hidden |= np.repeat([things[t].name in STAIRS for t in which], share.shape[0])
            visible_share[viewer, which] = 1.0 - hidden.reshape(len(which), -1).mean(axis=1)
    visible_share[np.ix_(levels == LANDING, thing_levels == LANDING)] = 1.0
    return visible_share


def _barriers(house: DollHouse, storey: int) -> tuple[Floats, Floats, Floats]:
    """The walls of a storey, the diagonals of its tall furniture, and the piece each diagonal belongs to."""
    screens, owner = [], []
    for number, piece in enumerate(house.furniture):
        if piece.storey == storey and piece.high >= _TALL and piece.blocks:
            r = piece.rect
            screens += [(r.x0, r.y0, r.x1, r.y1), (r.x0, r.y1, r.x1, r.y0)]
            owner += [number, number]
    return walls(house.plan, storey), np.array(screens).reshape(-1, 4), np.array(owner)


def _openness(house: DollHouse, directions: Floats) -> Floats:
    storeys = [0 if level == LANDING else level for level in house.levels]
    depths = np.zeros((len(storeys), len(directions)))
    for storey in range(house.plan.storeys):
        mine = np.array(storeys) == storey
        depths[mine] = ray_lengths(house.positions[mine, :2], directions, walls(house.plan, storey), FAR)
    return depths


def _visible(house: DollHouse) -> Bools:
    count = len(house.viewpoints)
    levels = np.array(house.levels)
    visible = np.zeros((count, count), dtype=bool)
    for storey in range(house.plan.storeys):
        wall, screens, _ = _barriers(house, storey)
        here = np.flatnonzero((levels == storey) | (levels == LANDING))
        a, b = (index.ravel() for index in np.meshgrid(here, here, indexing="ij"))
        barriers = np.concatenate([wall, screens])
        blocked = crossings(house.positions[a, :2], house.positions[b, :2], barriers).any(axis=1)
        visible[a[~blocked], b[~blocked]] = True
    np.fill_diagonal(visible, False)
    result: Bools = visible | house.unobstructed
    return result
