"""Routes through a dollhouse: shortest paths of four to six edges, and the legs a narrator describes.

R4R, R6R and R8R join paths where one ends and another starts. Starts and goals are drawn from a pool of
viewpoints smaller than the house, so several paths start where any one of them ends.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from babywalk.assets.dollhouse.geometry import crossings, heading, wrap_angle
from babywalk.assets.dollhouse.house import LANDING, DollHouse

MIN_LENGTH = 5.0  # metres
EDGES = (4, 5, 6)
_POOL = 0.62  # end points per path
_SMALLEST_POOL = 10
_ONE_ROOM = 0.1  # weight of a path within one room, relative to one that leaves it
_BEND = np.radians(50.0)  # a larger turn starts a new leg

LegKind = Literal["inside", "door", "up", "down"]
Turn = Literal["straight", "slight", "turn", "sharp", "around"]


@dataclass(frozen=True, slots=True)
class Route:
    """A shortest path between two viewpoints, and the heading at its start."""

    nodes: tuple[int, ...]  # indices of viewpoints
    heading: float
    length: float  # metres


def draw_paths(
    house: DollHouse, count: int, rng: np.random.Generator, *, without: Collection[tuple[int, ...]] = ()
) -> list[Route]:
    """Up to `count` different paths, none of them in `without`."""
    steps = np.linalg.norm(house.positions[:, None] - house.positions[None], axis=2)
    distance, before = dijkstra(np.where(house.unobstructed, steps, 0.0), return_predecessors=True)
    size = min(len(house.viewpoints), max(_SMALLEST_POOL, round(_POOL * count)))
    pool = np.sort(rng.permutation(len(house.viewpoints))[:size])
    known = frozenset(without)
    choices, weights = [], []
    for start in pool:
        for goal in pool:
            nodes = _trace(before, int(start), int(goal))
            if len(nodes) - 1 not in EDGES or distance[start, goal] < MIN_LENGTH or nodes in known:
                continue
            choices.append(nodes)
            weights.append(1.0 if len({house.rooms[node] for node in nodes}) > 1 else _ONE_ROOM)
    if not choices:
        return []
    chance = np.array(weights) / np.sum(weights)
    drawn = rng.choice(len(choices), size=min(count, len(choices)), replace=False, p=chance)
    return [
        Route(
            nodes=choices[index],
            heading=_first_heading(house, choices[index], rng),
            length=round(float(distance[choices[index][0], choices[index][-1]]), 2),
        )
        for index in drawn
    ]


def _trace(before: NDArray[np.int32], start: int, goal: int) -> tuple[int, ...]:
    nodes = [goal]
    while nodes[-1] != start:
        nodes.append(int(before[start, nodes[-1]]))
    return tuple(reversed(nodes))


def _first_heading(house: DollHouse, nodes: tuple[int, ...], rng: np.random.Generator) -> float:
    """A random heading: half the time roughly along the path, else uniform."""
    ahead = heading(house.positions[nodes[0]], house.positions[nodes[1]])
    spread = rng.normal(0.0, 0.3) if rng.random() < 0.5 else rng.uniform(-np.pi, np.pi)
    return round(float((ahead + spread) % (2 * np.pi)), 3) % round(2 * np.pi, 3)


@dataclass(frozen=True, slots=True)
class Leg:
    """A stretch of a route from node `first` to node `last`; it ends at a turn, a door or stairs."""

    kind: LegKind
    first: int
    last: int
    turn: float  # radians the walker turns at `first`, clockwise, in [-pi, pi)
    bend: float  # the largest turn within, unsigned
    late: float  # the turn before its last edge, which for a single edge is `turn`
    door: int | None = None  # the door of the plan at its end

    @property
    def turn_kind(self) -> Turn:
        """The kind of turn at its start."""
        return turn_kind(self.turn)

    @property
    def side(self) -> str:
        """The side to which the walker turns."""
        return "right" if self.turn > 0 else "left"


def turn_kind(turn: float) -> Turn:
    """The kind of a turn of so many radians."""
    size = abs(np.degrees(turn))
    if size < 20:
        return "straight"
    if size < 50:
        return "slight"
    if size < 125:
        return "turn"
    return "sharp" if size < 150 else "around"


def legs_of(house: DollHouse, path: Route) -> list[Leg]:
    """The legs of a route, in order; each begins where the previous one ends."""
    legs: list[Leg] = []
    facing = path.heading
    for number, (a, b) in enumerate(zip(path.nodes, path.nodes[1:], strict=False)):
        ahead = heading(house.positions[a], house.positions[b])
        turn = wrap_angle(ahead - facing)
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
    """The second leg extended by the first, which leads to it."""
    bend = max(approach.bend, leg.bend, abs(leg.turn))
    return Leg(leg.kind, approach.first, leg.last, approach.turn, bend, leg.late, leg.door)


def _edge(house: DollHouse, a: int, b: int) -> tuple[LegKind, int | None]:
    """The kind of an edge, and the door it goes through."""
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
