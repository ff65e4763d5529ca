"""The floor plan of a built-in house, `<scan>.json`, as rectangles to be drawn.

`{"floors": [{"rooms": [...], "doors": [...], "stairs": [...], "furniture": [...]}]}`, the lowest floor
first; everything on a floor is a rectangle `{name, x0, y0, x1, y1}` in metres.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from babywalk.assets.records import Record, records
from babywalk.common.files import read_json
from babywalk.evaluation.figures.page import Frame


@dataclass(frozen=True, slots=True)
class Shape:
    """A named rectangle; a door has no depth."""

    name: str  # empty where nobody would name it
    frame: Frame


@dataclass(frozen=True, slots=True)
class Floor:
    """What lies on one floor."""

    rooms: tuple[Shape, ...] = ()
    doors: tuple[Shape, ...] = ()
    stairs: tuple[Shape, ...] = ()
    furniture: tuple[Shape, ...] = ()


def read_plan(file: Path) -> tuple[Floor, ...]:
    """Read the floors of a house, the lowest first."""
    plan = Record.of(file, "the plan", read_json(file))
    floors = records(file, plan.items("floors", "a list of floors"), "floor")
    return tuple(
        Floor(*(_shapes(floor, field) for field in ("rooms", "doors", "stairs", "furniture")))
        for floor in floors
    )


def _shapes(floor: Record, field: str) -> tuple[Shape, ...]:
    found = records(floor.file, floor.items(field, "a list of rectangles"), f"{floor.name}: {field}")
    return tuple(
        Shape(
            str(one.fields.get("name", "")), Frame(*(one.number(side) for side in ("x0", "y0", "x1", "y1")))
        )
        for one in found
    )
