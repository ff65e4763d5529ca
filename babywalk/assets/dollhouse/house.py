"""A dollhouse: floor plan, furniture and the graph of viewpoints, all from one seed and a number."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np

from babywalk.assets.dollhouse.floorplan import FEWEST_ROOMS, MOST_ROOMS, STOREY_HEIGHT, FloorPlan, draw_plan
from babywalk.assets.dollhouse.furniture import Furniture, place_large, place_rest
from babywalk.assets.dollhouse.geometry import Bools, Floats, Point
from babywalk.assets.dollhouse.viewpoints import LANDING, Spot, connect, door_spots, fill_spots
from babywalk.common.seeding import generator

EYES = 1.5  # metres of the camera above the floor
_FEWEST, _MOST = 45, 80  # viewpoints


@dataclass(frozen=True, slots=True, eq=False)
class DollHouse:
    """The geometry of one house. Its graph is connected. Shapes: N viewpoints."""

    scan: str
    plan: FloorPlan
    furniture: tuple[Furniture, ...]
    viewpoints: tuple[str, ...]  # ids, unique over all houses of a data set
    positions: Floats  # (N, 3) metres, of the camera
    rooms: tuple[int, ...]  # (N,) in which room of the plan each viewpoint lies
    levels: tuple[int, ...]  # (N,) storey, or LANDING on the stairs
    unobstructed: Bools  # (N, N) True where one can walk straight

    def room_kind(self, viewpoint: int) -> str:
        """The kind of the room in which a viewpoint lies."""
        return self.plan.rooms[self.rooms[viewpoint]].kind


def build_house(seed: int, index: int) -> DollHouse:
    """House number `index` of a data set."""
    scan = f"dollhouse_{index:03d}"
    attempts = (_attempt(scan, index, generator(seed, "house", index, number)) for number in count())
    return next(house for house in attempts if house is not None)


def _attempt(scan: str, index: int, rng: np.random.Generator) -> DollHouse | None:
    """A house, or None if its furniture cuts off a part of it or it came out too small or too large."""
    plan = draw_plan(rng)
    if not FEWEST_ROOMS <= sum(room.kind != "stairs" for room in plan.rooms) <= MOST_ROOMS:
        return None
    large = place_large(plan, rng)
    spots = fill_spots(plan, door_spots(plan), [piece.rect for piece in large])
    if not _FEWEST <= len(spots) <= _MOST:
        return None
    unobstructed = connect(plan, spots, [(piece.storey, piece.rect) for piece in large])
    if unobstructed is None:
        return None
    furniture = place_rest(plan, large, _by_room(plan, spots), _walks(plan, spots, unobstructed), rng)
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
    return floor + EYES


def _by_room(plan: FloorPlan, spots: list[Spot]) -> dict[int, list[Point]]:
    return {room: [spot.point for spot in spots if spot.room == room] for room in range(len(plan.rooms))}


def _walks(plan: FloorPlan, spots: list[Spot], unobstructed: Bools) -> dict[int, Floats]:
    """The walks of every storey, (K, 4); those on stairs belong to both."""
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
