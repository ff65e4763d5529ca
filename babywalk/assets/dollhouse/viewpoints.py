"""Viewpoints: where one can stand, and between which of them one can walk straight.

One stands in front of every door on both sides, at both ends of the stairs and on their landing, and
spread over what space the large furniture leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from babywalk.assets.dollhouse.floorplan import FloorPlan, walls
from babywalk.assets.dollhouse.geometry import Bools, Floats, Point, Rect, corners, crossings, through

LANDING = 2  # the level of the stairs' landing; 0 and 1 are the storeys
_LONGEST = 3.0  # metres between neighbours, except on stairs
_NEAREST = 1.5  # metres between any two viewpoints of a room
_SPREAD = 1.5  # metres between viewpoints that only fill a room
_BODY = 0.15  # metres a walker needs on either side


@dataclass(frozen=True, slots=True)
class Spot:
    """A place to stand."""

    point: Point
    room: int
    level: int  # storey, or LANDING


def door_spots(plan: FloorPlan) -> list[Spot]:
    """The places in front of doors and stairs; doors that face each other share one."""
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
            point = plan.stance(door, room)
            if all(_apart(point, spot) > 0.9 for spot in spots if spot.room == room):
                spots.append(Spot(point, room, door.storey))
    return spots


def fill_spots(plan: FloorPlan, spots: Sequence[Spot], blocks: Sequence[Rect]) -> list[Spot]:
    """The given places and more, each as far as possible from those of its room.

    `blocks` are the large pieces of furniture.
    """
    spots = list(spots)
    for number, room in enumerate(plan.rooms):
        if room.kind == "stairs":
            continue
        own = [spot for spot in spots if spot.room == number]
        free = _free_points(room.rect, [block.grown(0.4) for block in blocks])
        spread = _NEAREST if min(room.rect.width, room.rect.depth) < 2.5 else _SPREAD
        while len(free) and own:
            taken = np.array([spot.point for spot in own])
            distance = np.hypot(*(free[:, None, :] - taken[None]).transpose(2, 0, 1)).min(axis=1)
            best = int(np.argmax(distance))
            if distance[best] < spread:
                break
            own.append(Spot((float(free[best, 0]), float(free[best, 1])), number, room.storey))
            spots.append(own[-1])
    return spots


def connect(plan: FloorPlan, spots: Sequence[Spot], blocks: Sequence[tuple[int, Rect]]) -> Bools | None:
    """Between which places one can walk straight, (N, N), or None if that leaves some unreachable.

    `blocks` are pieces of furniture with their storeys.
    """
    points = np.array([spot.point for spot in spots])
    levels = np.array([spot.level for spot in spots])
    distance = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    clear = np.zeros((len(spots), len(spots)), dtype=bool)
    for storey in range(plan.storeys):
        rects = corners(rect.grown(_BODY) for level, rect in blocks if level == storey)
        wall = walls(plan, storey, jamb=_BODY)
        pairs = np.argwhere(np.triu((levels[:, None] == storey) & (levels[None] == storey), 1))
        starts, ends = points[pairs[:, 0]], points[pairs[:, 1]]
        free = ~crossings(starts, ends, wall).any(axis=1) & ~through(starts, ends, rects).any(axis=1)
        clear[tuple(pairs[free].T)] = True
    clear |= clear.T
    linked = clear & (distance <= _LONGEST) & ~_detoured(distance)
    if plan.stairs:
        foot, head, landing = 0, 1, 2
        for end in (foot, head):
            linked[end, landing] = linked[landing, end] = True
    reachable, labels = connected_components(linked, directed=False)
    while reachable > 1:
        gap = np.where(clear & (labels[:, None] != labels[None]), distance, np.inf)
        a, b = np.unravel_index(int(np.argmin(gap)), gap.shape)
        if gap[a, b] > _LONGEST * 1.2:
            return None
        linked[a, b] = linked[b, a] = True
        reachable, labels = connected_components(linked, directed=False)
    result: Bools = linked
    return result


def _detoured(distance: Floats) -> Bools:
    """Pairs with a third place so near their straight line that one would walk by way of it."""
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
    """The hallway at which a stairwell lies."""
    (door,) = plan.doors_of(stairwell)
    return next(room for room in door.rooms if room != stairwell)


def _apart(point: Point, spot: Spot) -> float:
    return float(np.hypot(point[0] - spot.point[0], point[1] - spot.point[1]))
