"""Furniture: pieces with a colour and a material, placed by the kind of the room.

A piece never stands in a door, on another piece, on a viewpoint or across a walk between two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from babywalk.assets.dollhouse.catalogue import HOLDINGS, KIND, Kind
from babywalk.assets.dollhouse.floorplan import FloorPlan, Room
from babywalk.assets.dollhouse.geometry import Floats, Point, Rect, corners, through

_TRIES = 40
_GAP = 0.03  # metres between a piece and its wall, so that its wall does not hide it
_PLAIN = ("hallway", "entryway", "stairs")  # kinds of rooms without a large piece


@dataclass(frozen=True, slots=True)
class Furniture:
    """One piece in one room; heights are metres above the floor of its storey."""

    kind: Kind
    colour: str | None
    material: str | None
    room: int
    storey: int
    rect: Rect
    low: float
    high: float

    @property
    def blocks(self) -> bool:
        """Whether one cannot walk where it stands."""
        return self.kind.place in ("wall", "centre")


def place_large(plan: FloorPlan, rng: np.random.Generator) -> list[Furniture]:
    """The piece that gives each room its shape; it leaves the floor at the doors free."""
    pieces: list[Furniture] = []
    for number, room in enumerate(plan.rooms):
        if room.kind in _PLAIN:
            continue
        stances = [plan.stance(door, number) for door in plan.doors_of(number)]
        taken = _door_zones(plan, number) + [Rect(x, y, x, y).grown(0.35) for x, y in stances]
        piece = _placed(plan, number, KIND[HOLDINGS[room.kind][0]], taken, np.zeros((0, 4)), rng, margin=0.0)
        if piece is not None:
            pieces.append(piece)
    return pieces


def place_rest(
    plan: FloorPlan,
    large: Sequence[Furniture],
    points: dict[int, list[Point]],
    edges: dict[int, Floats],
    rng: np.random.Generator,
) -> list[Furniture]:
    """All pieces of the house, the large ones first.

    `points` are the viewpoints of every room, `edges` the walks of every storey as (K, 4).
    """
    pieces = list(large)
    for number, room in enumerate(plan.rooms):
        if room.kind == "stairs":
            continue
        taken = _door_zones(plan, number) + [Rect(x, y, x, y).grown(0.35) for x, y in points[number]]
        hung: list[Rect] = []
        taken += [piece.rect for piece in large if piece.room == number]
        for kind in _wanted(room, rng):
            if kind.place in ("floor", "ceiling"):
                piece = _placed(plan, number, kind, [], np.zeros((0, 4)), rng, margin=0.0)
            elif kind.place == "hung":
                zones = _door_zones(plan, number, depth=0.3) + hung
                zones += [p.rect for p in pieces if p.room == number and p.high > kind.above]
                piece = _placed(plan, number, kind, zones, np.zeros((0, 4)), rng, margin=0.05)
            else:
                piece = _placed(plan, number, kind, taken, edges[room.storey], rng, margin=0.16)
            if piece is None:
                continue
            pieces.append(piece)
            if piece.blocks:
                taken.append(piece.rect.grown(0.1))
            if piece.high > 1.0:
                hung.append(piece.rect)
    return pieces


def _wanted(room: Room, rng: np.random.Generator) -> list[Kind]:
    """What a room of this kind and size may hold beside its large piece."""
    kinds = [KIND[name] for name in HOLDINGS[room.kind]]
    if room.kind not in _PLAIN:
        kinds = kinds[1:]
    standing = [kind for kind in kinds if kind.place not in ("floor", "ceiling")]
    count = int(np.clip(round(room.rect.area / 2.0), 3, 9))
    wanted = [standing[index] for index in sorted(rng.permutation(len(standing))[:count])]
    wanted += [kind for kind in kinds if kind.place in ("floor", "ceiling") and rng.random() < 0.5]
    often = [kind for kind in wanted if kind.name in ("chair", "painting", "armchair", "plant", "stool")]
    return wanted + [kind for kind in often if rng.random() < 0.4]


def _placed(
    plan: FloorPlan,
    number: int,
    kind: Kind,
    taken: Sequence[Rect],
    ways: Floats,
    rng: np.random.Generator,
    *,
    margin: float,
) -> Furniture | None:
    """The piece at the first place found that is free, or None."""
    room = plan.rooms[number]
    for _ in range(_TRIES):
        rect = _against_wall(room.rect, kind, rng) if kind.place in ("wall", "hung") else None
        if rect is None:
            rect = _in_the_room(room.rect, kind, rng)
        if kind.name in ("window", "curtains") and not _outer(plan, room, rect):
            continue
        if not room.rect.grown(-_GAP / 2).holds(rect) or any(rect.meets(other) for other in taken):
            continue
        if len(ways) and through(ways[:, :2], ways[:, 2:], corners([rect.grown(margin)])).any():
            continue
        colour, material = _looks(kind, rng)
        high = round(kind.above + kind.size[2], 2)
        return Furniture(kind, colour, material, number, room.storey, rect, kind.above, high)
    return None


def _against_wall(rect: Rect, kind: Kind, rng: np.random.Generator) -> Rect:
    long, deep, _ = kind.size
    side = int(rng.integers(4))
    share = float(rng.random())
    if side < 2:
        x = rect.x0 + _GAP + share * (rect.width - long - 2 * _GAP)
        y = rect.y0 + _GAP if side == 0 else rect.y1 - _GAP - deep
        return _rounded(x, y, long, deep)
    y = rect.y0 + _GAP + share * (rect.depth - long - 2 * _GAP)
    x = rect.x0 + _GAP if side == 2 else rect.x1 - _GAP - deep
    return _rounded(x, y, deep, long)


def _in_the_room(rect: Rect, kind: Kind, rng: np.random.Generator) -> Rect:
    long, deep, _ = kind.size
    if rect.width < rect.depth:
        long, deep = deep, long
    x, y = rect.centre
    shift_x, shift_y = rng.uniform(-0.25, 0.25, 2) * (rect.width, rect.depth)
    return _rounded(x + shift_x - long / 2, y + shift_y - deep / 2, long, deep)


def _looks(kind: Kind, rng: np.random.Generator) -> tuple[str | None, str | None]:
    """A colour and a material, of which a piece has one, the other, or both."""
    colour = str(rng.choice(kind.colours)) if kind.colours else None
    material = str(rng.choice(kind.materials)) if kind.materials else None
    if colour and material:
        shown = rng.random()
        if shown < 0.45:
            material = None
        elif shown < 0.7:
            colour = None
    return colour, material


def _door_zones(plan: FloorPlan, number: int, *, depth: float = 0.9) -> list[Rect]:
    """The floor in front of each door of a room, which stays free."""
    zones = []
    for door in plan.doors_of(number):
        x0, y0, x1, y1 = door.gap
        if door.along_x:
            zones.append(Rect(x0 - 0.05, y0 - depth, x1 + 0.05, y1 + depth))
        else:
            zones.append(Rect(x0 - depth, y0 - 0.05, x1 + depth, y1 + 0.05))
    return zones


def _outer(plan: FloorPlan, room: Room, rect: Rect) -> bool:
    """Whether the wall at which a piece hangs has no room behind it."""
    behind = rect.grown(0.3)
    return not any(
        other is not room and other.storey == room.storey and other.rect.meets(behind) for other in plan.rooms
    )


def _rounded(x: float, y: float, width: float, depth: float) -> Rect:
    return Rect(round(x, 2), round(y, 2), round(x + width, 2), round(y + depth, 2))
