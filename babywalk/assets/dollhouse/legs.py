"""Legs: a path cut where something happens: a turn, a door, or stairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from babywalk.assets.dollhouse.geometry import crossings, heading, turned
from babywalk.assets.dollhouse.house import DollHouse
from babywalk.assets.dollhouse.paths import Path
from babywalk.assets.dollhouse.viewpoints import LANDING

LegKind = Literal["inside", "door", "up", "down"]
Turn = Literal["straight", "slight", "turn", "sharp", "around"]
_BEND = np.radians(50.0)  # a larger turn ends a leg


@dataclass(frozen=True, slots=True)
class Leg:
    """A stretch of path between its nodes `first` and `last`, of one kind."""

    kind: LegKind
    first: int
    last: int
    turn: float  # radians the walker turns at `first`, clockwise, in [-pi, pi)
    bend: float  # the largest turn within, unsigned
    late: float  # the turn before its last edge, which for a single edge is `turn`
    door: int | None = None  # which door of the plan one goes through last

    @property
    def turn_kind(self) -> Turn:
        """How one would call the turn."""
        return turn_kind(self.turn)

    @property
    def side(self) -> str:
        """To which side one turns."""
        return "right" if self.turn > 0 else "left"


def turn_kind(turn: float) -> Turn:
    """How one would call a turn of so many radians."""
    size = abs(np.degrees(turn))
    if size < 20:
        return "straight"
    if size < 50:
        return "slight"
    if size < 125:
        return "turn"
    return "sharp" if size < 150 else "around"


def legs_of(house: DollHouse, path: Path) -> list[Leg]:
    """The legs of a path, in order; each begins where the one before ends."""
    legs: list[Leg] = []
    facing = path.heading
    for number, (a, b) in enumerate(zip(path.nodes, path.nodes[1:], strict=False)):
        ahead = heading(house.positions[a], house.positions[b])
        turn = turned(ahead - facing)
        kind, door = _edge(house, a, b)
        previous = legs[-1] if legs else None
        if previous and previous.kind == kind and kind != "door" and (abs(turn) < _BEND or kind != "inside"):
            bend = max(previous.bend, abs(turn))
            legs[-1] = Leg(kind, previous.first, number + 1, previous.turn, bend, turn)
        else:
            legs.append(Leg(kind, number, number + 1, turn, 0.0, turn, door))
        facing = ahead
    return legs


def with_approach(approach: Leg, leg: Leg) -> Leg:
    """One leg in place of two: the second, with the way to it."""
    bend = max(approach.bend, leg.bend, abs(leg.turn))
    return Leg(leg.kind, approach.first, leg.last, approach.turn, bend, leg.late, leg.door)


def _edge(house: DollHouse, a: int, b: int) -> tuple[LegKind, int | None]:
    """What happens between two neighbours."""
    levels = house.levels[a], house.levels[b]
    if LANDING in levels:
        return ("up" if levels in ((0, LANDING), (LANDING, 1)) else "down"), None
    if house.rooms[a] == house.rooms[b]:
        return "inside", None
    start, end = house.positions[a, None, :2], house.positions[b, None, :2]
    last = None
    for number, door in enumerate(house.plan.doors):
        joins = house.rooms[b] in door.rooms and door.storey == levels[0]
        if joins and crossings(start, end, np.array([door.gap])).any():
            last = number
    return "door", last
