"""A dollhouse: floor plan, furniture and the graph of viewpoints, determined by a seed and an index.

Viewpoints are in front of every door on both sides, at both ends of the stairs and on their landing, and
spread over the floor that the large furniture leaves free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from babywalk.assets.dollhouse.floorplan import (
    FEWEST_ROOMS,
    MOST_ROOMS,
    STOREY_HEIGHT,
    FloorPlan,
    draw_plan,
    walls,
)
from babywalk.assets.dollhouse.furniture import Furniture, place_large, place_rest
from babywalk.assets.dollhouse.geometry import Bools, Floats, Point, Rect, corners, crossings, enters
from babywalk.common.seeding import generator

CAMERA_HEIGHT = 1.5  # metres above the floor
LANDING = 2  # the level of the stairs' landing; 0 and 1 are the storeys
_MIN_VIEWPOINTS, _MAX_VIEWPOINTS = 45, 80
_MAX_EDGE = 3.0  # metres between neighbours, except on stairs
_SPREAD = 1.5  # metres at least between viewpoints of a room that are not at a door
_BODY = 0.15  # half the width of a walker, metres


@dataclass(frozen=True, slots=True, eq=False)
class DollHouse:
    """The geometry of one house. Its graph is connected. Shapes: N viewpoints."""

    scan: str
    plan: FloorPlan
    furniture: tuple[Furniture, ...]
    viewpoints: tuple[str, ...]  # ids, unique across all houses of a data set
    positions: Floats  # (N, 3) metres, camera positions
    rooms: tuple[int, ...]  # (N,) the room of each viewpoint, an index into the plan
    levels: tuple[int, ...]  # (N,) storey, or LANDING on the stairs
    unobstructed: Bools  # (N, N) True where a walker can go straight from one to the other

    def room_kind(self, viewpoint: int) -> str:
        """The kind of the room of a viewpoint."""
        return self.plan.rooms[self.rooms[viewpoint]].kind


def build_house(seed: int, index: int) -> DollHouse:
    """House number `index` of a data set; draws until one is valid."""
    scan = f"dollhouse_{index:03d}"
    attempts = (_attempt(scan, index, generator(seed, "house", index, number)) for number in count())
    return next(house for house in attempts if house is not None)


def _attempt(scan: str, index: int, rng: np.random.Generator) -> DollHouse | None:
    """A house, or None if it is too small, too large, or not connected."""
    plan = draw_plan(rng)
    if not FEWEST_ROOMS <= sum(room.kind != "stairs" for room in plan.rooms) <= MOST_ROOMS:
        return None
    large = place_large(plan, rng)
    spots = fill_spots(plan, door_spots(plan), [piece.rect for piece in large])
    if not _MIN_VIEWPOINTS <= len(spots) <= _MAX_VIEWPOINTS:
        return None
    unobstructed = connect(plan, spots, [(piece.storey, piece.rect) for piece in large])
    if unobstructed is None:
        return None
    furniture = place_rest(plan, large, _by_room(plan, spots), _edges(plan, spots, unobstructed), rng)
    return DollHouse(
        scan=scan,
        plan=plan,
        furniture=tuple(furniture),
        viewpoints=tuple(f"d{index:03d}-v{number:03d}" for number in range(len(spots))),
        positions=np.round(np.array([(*spot.point, _eye_level(spot)) for spot in spots]), 3),
        rooms=tuple(spot.room for spot in spots),
        levels=tuple(spot.level for spot in spots),
        unobstructed=unobstructed,
    )


def _eye_level(spot: Spot) -> float:
    floor = STOREY_HEIGHT / 2 if spot.level == LANDING else STOREY_HEIGHT * spot.level
    return floor + CAMERA_HEIGHT


def _by_room(plan: FloorPlan, spots: list[Spot]) -> dict[int, list[Point]]:
    return {room: [spot.point for spot in spots if spot.room == room] for room in range(len(plan.rooms))}


def _edges(plan: FloorPlan, spots: list[Spot], unobstructed: Bools) -> dict[int, Floats]:
    """The edges of every storey, (K, 4); edges on stairs belong to both storeys."""
    pairs = np.argwhere(np.triu(unobstructed))
    return {
        storey: np.array(
            [
                (*spots[a].point, *spots[b].point)
                for a, b in pairs
                if {spots[a].level, spots[b].level} <= {storey, LANDING}
            ]
        ).reshape(-1, 4)
        for storey in range(plan.storeys)
    }


@dataclass(frozen=True, slots=True)
class Spot:
    """A candidate position of a viewpoint."""

    point: Point
    room: int
    level: int  # storey, or LANDING


def door_spots(plan: FloorPlan) -> list[Spot]:
    """The spots in front of doors and stairs; doors that face each other share one."""
    spots: list[Spot] = []
    if plan.stairs:
        lower, upper = (_hall_of(plan, well) for well in plan.stairs.rooms)
        spots.append(Spot(plan.stairs.foot, lower, 0))
        spots.append(Spot(plan.stairs.head, upper, 1))
        spots.append(Spot(plan.stairs.landing, plan.stairs.rooms[0], LANDING))
    for door in plan.doors:
        for room in door.rooms:
            if "stairs" in (plan.rooms[door.rooms[0]].kind, plan.rooms[door.rooms[1]].kind):
                continue
            point = plan.standing_point(door, room)
            if all(_distance(point, spot) > 0.9 for spot in spots if spot.room == room):
                spots.append(Spot(point, room, door.storey))
    return spots


def fill_spots(plan: FloorPlan, spots: Sequence[Spot], blocks: Sequence[Rect]) -> list[Spot]:
    """The given spots and further ones, each as far as possible from the others of its room.

    `blocks` are the large pieces of furniture.
    """
    spots = list(spots)
    for number, room in enumerate(plan.rooms):
        if room.kind == "stairs":
            continue
        own = [spot for spot in spots if spot.room == number]
        free = _free_points(room.rect, [block.expanded(0.4) for block in blocks])
        while len(free) and own:
            taken = np.array([spot.point for spot in own])
            distance = np.hypot(*(free[:, None, :] - taken[None]).transpose(2, 0, 1)).min(axis=1)
            best = int(np.argmax(distance))
            if distance[best] < _SPREAD:
                break
            own.append(Spot((float(free[best, 0]), float(free[best, 1])), number, room.storey))
            spots.append(own[-1])
    return spots


def connect(plan: FloorPlan, spots: Sequence[Spot], blocks: Sequence[tuple[int, Rect]]) -> Bools | None:
    """(N, N) the edges of the graph; None if it cannot be connected.

    `blocks` are pieces of furniture with their storeys.
    """
    points = np.array([spot.point for spot in spots])
    levels = np.array([spot.level for spot in spots])
    distance = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    clear = np.zeros((len(spots), len(spots)), dtype=bool)
    for storey in range(plan.storeys):
        rects = corners(rect.expanded(_BODY) for level, rect in blocks if level == storey)
        wall = walls(plan, storey, jamb=_BODY)
        pairs = np.argwhere(np.triu((levels[:, None] == storey) & (levels[None] == storey), 1))
        starts, ends = points[pairs[:, 0]], points[pairs[:, 1]]
        free = ~crossings(starts, ends, wall).any(axis=1) & ~enters(starts, ends, rects).any(axis=1)
        clear[tuple(pairs[free].T)] = True
    clear |= clear.T
    linked = clear & (distance <= _MAX_EDGE) & ~_has_detour(distance)
    if plan.stairs:
        foot, head, landing = 0, 1, 2
        for end in (foot, head):
            linked[end, landing] = linked[landing, end] = True
    reachable, labels = connected_components(linked, directed=False)
    while reachable > 1:
        gap = np.where(clear & (labels[:, None] != labels[None]), distance, np.inf)
        a, b = np.unravel_index(int(np.argmin(gap)), gap.shape)
        if gap[a, b] > _MAX_EDGE * 1.2:
            return None
        linked[a, b] = linked[b, a] = True
        reachable, labels = connected_components(linked, directed=False)
    result: Bools = linked
    return result


def _has_detour(distance: Floats) -> Bools:
    """Pairs of spots with a third spot so close to the line between them that the edge is redundant."""
    square = distance**2
    via = np.where(np.eye(len(distance), dtype=bool), np.inf, square)
    shorter: Bools = (via[:, :, None] + via[None, :, :]).min(axis=1) < 0.53 * square
    return shorter


def _free_points(rect: Rect, blocks: Sequence[Rect]) -> Floats:
    """A grid over the inside of a room, away from walls and furniture."""
    rim_x, rim_y = (min(0.8, side / 2 - 0.1) for side in (rect.width, rect.depth))
    x, y = np.meshgrid(
        np.linspace(rect.x0 + rim_x, rect.x1 - rim_x, max(2, round((rect.width - 2 * rim_x) / 0.2))),
        np.linspace(rect.y0 + rim_y, rect.y1 - rim_y, max(2, round((rect.depth - 2 * rim_y) / 0.2))),
    )
    points: Floats = np.round(np.column_stack([x.ravel(), y.ravel()]), 2).astype(np.float64)
    inside = np.zeros(len(points), dtype=bool)
    for b in blocks:
        inside |= (points > (b.x0, b.y0)).all(axis=1) & (points < (b.x1, b.y1)).all(axis=1)
    return points[~inside]


def _hall_of(plan: FloorPlan, stairwell: int) -> int:
    """The hallway next to a stairwell."""
    (door,) = plan.doors_of(stairwell)
    return next(room for room in door.rooms if room != stairwell)


def _distance(point: Point, spot: Spot) -> float:
    return float(np.hypot(point[0] - spot.point[0], point[1] - spot.point[1]))


def plan_fields(house: DollHouse) -> dict[str, Any]:
    """A house as JSON fields for drawing: rooms, walls, doors, stairs and furniture, in metres."""
    return {"scan": house.scan, "floors": [_floor(house, storey) for storey in range(house.plan.storeys)]}


def _floor(house: DollHouse, storey: int) -> dict[str, Any]:
    plan = house.plan
    stairs = plan.stairs
    return {
        "rooms": [{"name": r.kind} | _corners(r.rect) for r in plan.rooms if r.storey == storey],
        "walls": walls(plan, storey).tolist(),
        "doors": [
            {"name": d.kind, "rooms": [plan.rooms[room].kind for room in d.rooms]} | _corners(Rect(*d.gap))
            for d in plan.doors
            if d.storey == storey and "stairs" not in [plan.rooms[room].kind for room in d.rooms]
        ],
        "stairs": []
        if stairs is None
        else [_corners(stairs.lower if storey == 0 else stairs.upper) | {"to": 1 - storey}],
        "furniture": [
            {"name": piece.kind.name, "colour": piece.colour, "material": piece.material}
            | _corners(piece.rect)
            for piece in house.furniture
            if piece.storey == storey
        ],
    }


def _corners(rect: Rect) -> dict[str, float]:
    return {"x0": rect.x0, "y0": rect.y0, "x1": rect.x1, "y1": rect.y1}
