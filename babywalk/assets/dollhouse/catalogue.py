"""What a dollhouse is made of: kinds of rooms, colours, materials and kinds of furniture.

The order of every table fixes the columns of the semantic vectors, and with them the features of all
dollhouses: append, never reorder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
    """A kind of furniture: where it stands, how large it is, and what it can be made of.

    Kinds of one family share the columns of their colours. Without colours a thing is named without one.
    """

    name: str
    group: str  # the coarse category of category_mapping.tsv
    family: Family
    place: Place
    size: tuple[float, float, float]  # metres along the wall, away from it, and high
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
KIND = {kind.name: kind for kind in KINDS}

# What each kind of room may hold. The first piece is placed before anything else and gives the room its
# shape, except in hallways and entryways.
HOLDINGS = {
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
    """The coarse category of every name that object boxes use."""
    names = {kind.name: kind.group for kind in KINDS}
    names |= dict.fromkeys(DOORS, "door")
    return names | dict.fromkeys(STAIRS, "stairs")
