"""A house as a small floor plan for pictures: plain numbers, one entry per storey."""

from __future__ import annotations

from typing import Any

from babywalk.assets.dollhouse.floorplan import walls
from babywalk.assets.dollhouse.geometry import Rect
from babywalk.assets.dollhouse.house import DollHouse


def plan_fields(house: DollHouse) -> dict[str, Any]:
    """The floors of a house: rooms, walls, doors, stairs and furniture, in metres."""
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
