"""Furniture: the kinds there are, and their placement in the rooms of a floor plan.

The order of every table fixes the columns of the semantic vectors, and with them the view features of all
dollhouses: append, never reorder. A piece of furniture never overlaps a door, another piece, a viewpoint or
an edge between two viewpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from babywalk.assets.dollhouse.floorplan import FloorPlan, Room
from babywalk.assets.dollhouse.geometry import Floats, Point, Rect, corners, enters

Place = Literal["wall", "centre", "hung", "floor", "ceiling"]
Family = Literal["seat", "surface", "soft", "thing"]

ROOMS = (
    "hallway",
    "entryway",
    "living room",
    "family room",
    "dining room",
    "kitchen",
    "bedroom",
    "bathroom",
    "office",
    "library",
    "gym",
    "game room",
    "laundry room",
    "closet",
    "stairs",
)

COLOURS = ("white", "black", "brown", "red", "blue", "green", "yellow", "grey", "purple", "orange")
MATERIALS = ("wooden", "leather", "glass", "metal", "stone", "marble", "wicker")
FAMILIES: tuple[Family, ...] = ("seat", "surface", "soft", "thing")
DOORS = ("door", "archway", "double doors")
STAIRS = ("stairs up", "stairs down")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of furniture: where it is placed, its size, and its possible colours and materials.

    Kinds of one family share the columns of their colours.
    """

    name: str
    group: str  # the coarse category of category_mapping.tsv
    family: Family
    place: Place
    size: tuple[float, float, float]  # metres: width along the wall, depth, height
    colours: tuple[str, ...] = ()
    materials: tuple[str, ...] = ()
    above: float = 0.0  # metres from the floor to its lower edge


_SOBER = ("white", "black", "brown")
_DARK = ("black", "brown", "white", "grey")
_BRIGHT = ("red", "blue", "green", "yellow", "purple", "orange")
_WOOD = ("wooden", "wooden", "metal", "glass")

KINDS = (
    Kind("bed", "bed", "soft", "wall", (1.6, 2.0, 0.6), (*_BRIGHT, "white", "grey")),
    Kind("dining table", "table", "surface", "centre", (2.0, 1.0, 0.75), (), _WOOD),
    Kind("kitchen island", "counter", "surface", "centre", (1.8, 0.9, 0.9), (), ("marble", "stone")),
    Kind("pool table", "table", "surface", "centre", (2.2, 1.2, 0.8), ("green", "red", "blue")),
    Kind("couch", "sofa", "seat", "wall", (2.0, 0.9, 0.8), (*_BRIGHT, *_DARK), ("leather",)),
    Kind("desk", "table", "surface", "wall", (1.4, 0.7, 0.75), _SOBER, _WOOD),
    Kind("treadmill", "gym_equipment", "thing", "wall", (0.9, 1.8, 1.3), ("black", "grey", "red")),
    Kind("bathtub", "bathtub", "thing", "wall", (1.6, 0.75, 0.6), ("white", "black"), ("marble",)),
    Kind("piano", "furniture", "thing", "wall", (1.5, 0.7, 1.2), _SOBER),
    Kind("washer", "appliances", "thing", "wall", (0.65, 0.65, 0.9), ("white", "grey", "blue")),
    Kind("armchair", "chair", "seat", "wall", (0.85, 0.85, 0.9), (*_BRIGHT, *_DARK), ("leather", "wicker")),
    Kind("chair", "chair", "seat", "wall", (0.5, 0.5, 0.9), (*_BRIGHT, *_DARK), ("wooden", "metal")),
    Kind("stool", "stool", "seat", "wall", (0.4, 0.4, 0.7), (*_BRIGHT, "black"), ("wooden", "metal")),
    Kind("bench", "seating", "seat", "wall", (1.2, 0.4, 0.5), (*_BRIGHT, "brown"), ("wooden",)),
    Kind("ottoman", "seating", "seat", "wall", (0.6, 0.6, 0.4), (*_BRIGHT, "grey"), ("leather",)),
    Kind("coffee table", "table", "surface", "centre", (1.0, 0.6, 0.4), (), _WOOD),
    Kind("side table", "table", "surface", "wall", (0.5, 0.4, 0.6), ("white", "black"), _WOOD),
    Kind("nightstand", "chest_of_drawers", "surface", "wall", (0.5, 0.4, 0.6), _SOBER, ("wooden",)),
    Kind("dresser", "chest_of_drawers", "surface", "wall", (1.2, 0.5, 0.9), _SOBER, ("wooden",)),
    Kind("wardrobe", "cabinet", "surface", "wall", (1.3, 0.6, 2.0), _SOBER, ("wooden",)),
    Kind("bookshelf", "shelving", "surface", "wall", (1.2, 0.35, 2.0), _SOBER, ("wooden",)),
    Kind("cabinet", "cabinet", "surface", "wall", (1.0, 0.45, 1.0), ("white", "blue", "green"), ("wooden",)),
    Kind("shelf", "shelving", "surface", "hung", (1.0, 0.25, 0.3), ("white",), ("wooden", "metal"), 1.4),
    Kind("counter", "counter", "surface", "wall", (1.8, 0.6, 0.9), ("white", "black"), ("marble", "stone")),
    Kind("bar", "counter", "surface", "wall", (1.6, 0.6, 1.1), (), ("wooden", "marble")),
    Kind("fridge", "appliances", "thing", "wall", (0.8, 0.7, 1.9), ("white", "black", "grey", "red")),
    Kind("stove", "appliances", "thing", "wall", (0.7, 0.6, 0.9), ("white", "black", "grey")),
    Kind("sink", "sink", "thing", "wall", (0.7, 0.5, 0.9), ("white",), ("marble", "metal")),
    Kind("toilet", "toilet", "thing", "wall", (0.45, 0.65, 0.8)),
    Kind("shower", "shower", "thing", "wall", (0.9, 0.9, 2.1), (), ("glass",)),
    Kind("dryer", "appliances", "thing", "wall", (0.65, 0.65, 0.9), ("white", "grey")),
    Kind("laundry basket", "misc", "thing", "wall", (0.45, 0.45, 0.6), (*_BRIGHT, "white"), ("wicker",)),
    Kind("fireplace", "fireplace", "thing", "wall", (1.4, 0.4, 1.2), ("white", "black"), ("stone", "marble")),
    Kind("tv", "tv_monitor", "thing", "hung", (1.2, 0.1, 0.7), (), (), 1.0),
    Kind("exercise bike", "gym_equipment", "thing", "wall", (0.6, 1.1, 1.1), ("black", "red", "blue")),
    Kind("weight rack", "gym_equipment", "thing", "wall", (1.2, 0.5, 0.9), (), ("metal",)),
    Kind("plant", "plant", "thing", "wall", (0.45, 0.45, 1.1)),
    Kind("lamp", "lighting", "thing", "wall", (0.35, 0.35, 1.6), (*_BRIGHT, "white", "black")),
    Kind("statue", "objects", "thing", "wall", (0.45, 0.45, 1.5), ("white", "black"), ("stone", "wooden")),
    Kind("vase", "objects", "thing", "wall", (0.35, 0.35, 0.9), (*_BRIGHT, "white"), ("glass",)),
    Kind("clock", "objects", "thing", "hung", (0.5, 0.1, 0.5), ("white", "red", "yellow"), ("wooden",), 1.5),
    Kind("coat rack", "furniture", "thing", "wall", (0.45, 0.45, 1.7), ("black",), ("wooden", "metal")),
    Kind("trash can", "objects", "thing", "wall", (0.35, 0.35, 0.6), ("black", "green", "blue"), ("metal",)),
    Kind("guitar", "objects", "thing", "wall", (0.4, 0.3, 1.0), ("red", "brown", "black")),
    Kind("painting", "picture", "thing", "hung", (1.0, 0.06, 0.8), COLOURS, (), 1.2),
    Kind("mirror", "mirror", "thing", "hung", (0.8, 0.06, 1.1), (), (), 0.9),
    Kind("window", "window", "thing", "hung", (1.3, 0.06, 1.2), (), (), 0.9),
    Kind("curtains", "curtain", "soft", "hung", (1.2, 0.1, 1.9), (*_BRIGHT, "white", "grey"), (), 0.2),
    Kind("rug", "floor_mat", "soft", "floor", (1.8, 1.3, 0.02), (*_BRIGHT, "white", "grey", "brown")),
    Kind("mat", "floor_mat", "soft", "floor", (0.8, 0.5, 0.02), (*_BRIGHT, "white", "grey")),
    Kind("chandelier", "lighting", "thing", "ceiling", (0.8, 0.8, 0.5), (), ("glass", "metal"), 2.1),
    Kind("towels", "towel", "soft", "hung", (0.6, 0.1, 0.7), (*_BRIGHT, "white"), (), 1.0),
)

KIND_NAMES = tuple(kind.name for kind in KINDS)
KIND_BY_NAME = {kind.name: kind for kind in KINDS}

# What each kind of room may contain. The first entry is the room's large piece, placed before the viewpoints,
# except in hallways and entryways.
ROOM_FURNITURE = {
    room: tuple(names.split(", ")) if names else ()
    for room, names in {
        "hallway": (
            "bench, side table, cabinet, plant, lamp, statue, vase, clock, coat rack, painting, mirror, rug"
        ),
        "entryway": (
            "chair, bench, side table, plant, statue, vase, coat rack, painting, mirror, mat, chandelier"
        ),
        "living room": (
            "couch, piano, armchair, ottoman, coffee table, side table, bookshelf, fireplace, tv, plant, "
            "lamp, statue, vase, painting, window, curtains, rug, chandelier"
        ),
        "family room": (
            "couch, piano, armchair, ottoman, coffee table, side table, bookshelf, fireplace, tv, plant, "
            "lamp, guitar, painting, window, curtains, rug"
        ),
        "dining room": (
            "dining table, chair, cabinet, bar, plant, vase, clock, painting, window, curtains, rug, "
            "chandelier"
        ),
        "kitchen": (
            "kitchen island, chair, stool, cabinet, shelf, counter, fridge, stove, sink, clock, trash "
            "can, window, mat"
        ),
        "bedroom": (
            "bed, desk, armchair, chair, bench, nightstand, dresser, wardrobe, tv, plant, lamp, guitar, "
            "painting, mirror, window, curtains, rug"
        ),
        "bathroom": (
            "bathtub, stool, cabinet, sink, toilet, shower, laundry basket, plant, mirror, mat, towels"
        ),
        "office": "desk, armchair, chair, bookshelf, plant, lamp, clock, trash can, painting, window, rug",
        "library": (
            "couch, desk, piano, armchair, bookshelf, fireplace, plant, lamp, statue, clock, painting, "
            "window, rug"
        ),
        "gym": "treadmill, bench, shelf, tv, exercise bike, weight rack, plant, mirror, window, mat, towels",
        "game room": "pool table, couch, armchair, stool, bar, tv, plant, lamp, guitar, painting, rug",
        "laundry room": "washer, shelf, sink, dryer, laundry basket, trash can, mat, towels",
        "closet": "ottoman, dresser, wardrobe, shelf, laundry basket, coat rack, mirror",
        "stairs": "",
    }.items()
}


def categories() -> dict[str, str]:
    """The coarse category of every object name in the boxes."""
    names = {kind.name: kind.group for kind in KINDS}
    names |= dict.fromkeys(DOORS, "door")
    return names | dict.fromkeys(STAIRS, "stairs")


_TRIES = 40
_GAP = 0.03  # metres between a piece and its wall, so that the wall does not occlude it
_WITHOUT_LARGE_PIECE = ("hallway", "entryway", "stairs")  # kinds of rooms


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
        """Whether it is an obstacle for walkers."""
        return self.kind.place in ("wall", "centre")


def place_large(plan: FloorPlan, rng: np.random.Generator) -> list[Furniture]:
    """The large piece of each room; the floor at the doors stays free."""
    pieces: list[Furniture] = []
    for number, room in enumerate(plan.rooms):
        if room.kind in _WITHOUT_LARGE_PIECE:
            continue
        points = [plan.standing_point(door, number) for door in plan.doors_of(number)]
        taken = _door_zones(plan, number) + [Rect(x, y, x, y).expanded(0.35) for x, y in points]
        piece = _placed(
            plan, number, KIND_BY_NAME[ROOM_FURNITURE[room.kind][0]], taken, np.zeros((0, 4)), rng, margin=0.0
        )
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

    `points` are the viewpoints of every room, `edges` the edges of every storey as (K, 4).
    """
    pieces = list(large)
    for number, room in enumerate(plan.rooms):
        if room.kind == "stairs":
            continue
        taken = _door_zones(plan, number) + [Rect(x, y, x, y).expanded(0.35) for x, y in points[number]]
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
                taken.append(piece.rect.expanded(0.1))
            if piece.high > 1.0:
                hung.append(piece.rect)
    return pieces


def _wanted(room: Room, rng: np.random.Generator) -> list[Kind]:
    """The further pieces that a room of this kind and size should get."""
    kinds = [KIND_BY_NAME[name] for name in ROOM_FURNITURE[room.kind]]
    if room.kind not in _WITHOUT_LARGE_PIECE:
        kinds = kinds[1:]
    standing = [kind for kind in kinds if kind.place not in ("floor", "ceiling")]
    count = int(np.clip(round(room.rect.area / 2.0), 3, 9))
    wanted = [standing[index] for index in sorted(rng.permutation(len(standing))[:count])]
    wanted += [kind for kind in kinds if kind.place in ("floor", "ceiling") and rng.random() < 0.5]
    repeatable = [kind for kind in wanted if kind.name in ("chair", "painting", "armchair", "plant", "stool")]
    return wanted + [kind for kind in repeatable if rng.random() < 0.4]


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
    """The piece at the first free position drawn, or None after too many draws."""
    room = plan.rooms[number]
    for _ in range(_TRIES):
        rect = _against_wall(room.rect, kind, rng) if kind.place in ("wall", "hung") else None
        if rect is None:
            rect = _in_the_room(room.rect, kind, rng)
        if kind.name in ("window", "curtains") and not _on_outer_wall(plan, room, rect):
            continue
        if not room.rect.expanded(-_GAP / 2).contains(rect) or any(rect.overlaps(other) for other in taken):
            continue
        if len(ways) and enters(ways[:, :2], ways[:, 2:], corners([rect.expanded(margin)])).any():
            continue
        colour, material = _draw_look(kind, rng)
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


def _draw_look(kind: Kind, rng: np.random.Generator) -> tuple[str | None, str | None]:
    """A random colour and material; where the kind has both, either may be left out."""
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
    """The floor in front of each door of a room, which must stay free."""
    zones = []
    for door in plan.doors_of(number):
        x0, y0, x1, y1 = door.gap
        if door.along_x:
            zones.append(Rect(x0 - 0.05, y0 - depth, x1 + 0.05, y1 + depth))
        else:
            zones.append(Rect(x0 - depth, y0 - 0.05, x1 + depth, y1 + 0.05))
    return zones


def _on_outer_wall(plan: FloorPlan, room: Room, rect: Rect) -> bool:
    """Whether the wall behind a piece is an outer wall of the house."""
    behind = rect.expanded(0.3)
    return not any(
        other is not room and other.storey == room.storey and other.rect.overlaps(behind)
        for other in plan.rooms
    )


def _rounded(x: float, y: float, width: float, depth: float) -> Rect:
    return Rect(round(x, 2), round(y, 2), round(x + width, 2), round(y + depth, 2))
