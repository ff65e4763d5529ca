"""The contents of a house drawing, before layout: floors, floor plan, navigation graph, trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.data_directory import check_file
from babywalk.assets.records import Record, records
from babywalk.buildings.houses import NOWHERE, Houses
from babywalk.common.errors import ConfigError, shortlist
from babywalk.common.files import read_json
from babywalk.evaluation.figures.layout import Frame

Points = NDArray[np.float64]  # (n, 2) metres

_FLOOR_BAND = 0.4  # metres above and below a floor within which its viewpoints lie
_MIN_STOREY = 2.0  # metres between floors; less is a step within a floor
_MIN_VIEWPOINTS, _MIN_SHARE = 3, 0.03  # of a floor: a number, and a share of the house's viewpoints
_RIM, _RIM_SHARE = 0.8, 0.04  # margin around a house: metres, or a share of its size if that is more
_CLOSE_UP_RIM = 3.0  # metres around trajectories in a close-up


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A trajectory in one house, with the ends of its Baby-Steps where they are known."""

    label: str  # "expert", "oracle", an agent's name
    path: tuple[int, ...]  # global viewpoints of Houses, all of one house, never empty
    steps: tuple[int, ...] = ()  # index into path where each Baby-Step ends, non-decreasing; empty: unknown


@dataclass(frozen=True, slots=True)
class Shape:
    """A named rectangle of a floor plan; a door has zero depth."""

    name: str  # may be empty
    frame: Frame


@dataclass(frozen=True, slots=True)
class Floor:
    """The floor plan of one floor; empty where a house has none."""

    rooms: tuple[Shape, ...] = ()
    doors: tuple[Shape, ...] = ()
    stairs: tuple[Shape, ...] = ()
    furniture: tuple[Shape, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """One house. Viewpoints are numbered from 0 within it. Shapes: N viewpoints, E edges."""

    first: int  # the house's first viewpoint in Houses
    points: Points  # (N, 2)
    edges: NDArray[np.int64]  # (E, 2) viewpoints
    floor_of: NDArray[np.int64]  # (N,) from 0, the lowest
    floors: tuple[Floor, ...]

    @property
    def frame(self) -> Frame:
        """The bounding box of all floors, with a margin."""
        rooms = [room.frame for floor in self.floors for room in floor.rooms]
        corners = [(x, y) for room in rooms for x, y in ((room.x0, room.y0), (room.x1, room.y1))]
        points = np.concatenate([self.points, np.reshape(corners, (-1, 2))])
        return _bounding_box(points, max(_RIM, _RIM_SHARE * float(np.ptp(points, axis=0).max())))

    def visited(self, trajectories: Sequence[Trajectory]) -> tuple[Frame | None, list[int]]:
        """The bounding box of all trajectories and the floors they are on; None and [] without any."""
        viewpoints = sorted({viewpoint - self.first for one in trajectories for viewpoint in one.path})
        if not viewpoints:
            return None, []
        floors = sorted(set(self.floor_of[viewpoints].tolist()))
        return _bounding_box(self.points[viewpoints], _CLOSE_UP_RIM).within(self.frame), floors


def build_scene(houses: Houses, scan: str, plan: Path | None) -> Scene:
    """The scene of a house, with its floor plan if a file is given."""
    viewpoints = houses.viewpoints(scan).values()
    first, end = min(viewpoints), max(viewpoints) + 1
    positions, neighbours = houses.positions[first:end], houses.neighbours[first:end]
    tail, slot = np.nonzero(neighbours != NOWHERE)
    head = neighbours[tail, slot] - first
    floors = read_plan(plan) if plan else ()
    heights = floor_heights(positions[:, 2], limit=len(floors) or None)
    return Scene(
        first=first,
        points=positions[:, :2],
        edges=np.column_stack([tail, head])[tail < head],
        floor_of=nearest_floor(positions[:, 2], heights),
        floors=floors + (Floor(),) * (len(heights) - len(floors)),
    )


def check_trajectories(trajectories: Sequence[Trajectory], houses: Houses, scan: str) -> None:
    """Raise unless each trajectory lies in the given house."""
    inside = set(houses.viewpoints(scan).values())
    for one in trajectories:
        if not one.path:
            raise ConfigError(f"Trajectory {one.label!r} is empty. Give at least its start viewpoint.")
        outside = [viewpoint for viewpoint in one.path if viewpoint not in inside]
        if outside:
            raise ConfigError(
                f"Trajectory {one.label!r} leaves house {scan!r} at viewpoint {shortlist(outside)}. "
                f"Give viewpoints from {min(inside)} to {max(inside)}."
            )
        bounds = (0, *one.steps, len(one.path) - 1)
        if list(bounds) != sorted(bounds):
            raise ConfigError(
                f"Trajectory {one.label!r} has Baby-Steps that end at {shortlist(one.steps, limit=8)}. "
                f"Give non-decreasing indices into its path, from 0 to {len(one.path) - 1}."
            )


def floor_heights(heights: NDArray[np.float64], limit: int | None = None) -> NDArray[np.float64]:
    """The heights of the floors, ascending, from the heights of viewpoints alone.

    Heights are chosen greedily by how many viewpoints lie within `_FLOOR_BAND`. Viewpoints on stairs are too
    few at any one height to count as a floor. `limit` is the maximal number of floors.
    """
    ordered = np.sort(heights)
    near = np.abs(ordered[:, None] - ordered[None]) <= _FLOOR_BAND
    count = near.sum(axis=1)
    found: list[float] = []
    free = np.ones(len(ordered), dtype=bool)
    while free.any() and (limit is None or len(found) < limit):
        best = int(np.argmax(np.where(free, count, 0)))
        if found and count[best] < max(_MIN_VIEWPOINTS, _MIN_SHARE * len(ordered)):
            break
        found.append(float(np.median(ordered[near[best]])))
        free &= np.abs(ordered - found[-1]) >= _MIN_STOREY
    return np.sort(np.array(found))


def nearest_floor(heights: NDArray[np.float64], floors: NDArray[np.float64]) -> NDArray[np.int64]:
    """(N,) the index of the floor nearest to each height."""
    nearest: NDArray[np.int64] = np.abs(heights[:, None] - floors[None]).argmin(axis=1)
    return nearest


def read_plan(file: Path) -> tuple[Floor, ...]:
    """Read the floor plan of a built-in house, `<scan>.json`, the lowest floor first.

    `{"floors": [{"rooms": [...], "doors": [...], "stairs": [...], "furniture": [...]}]}`; each list holds
    rectangles `{name, x0, y0, x1, y1}` in metres.
    """
    check_file(file)
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


def _bounding_box(points: Points, rim: float) -> Frame:
    low, high = points.min(axis=0) - rim, points.max(axis=0) + rim
    return Frame(float(low[0]), float(low[1]), float(high[0]), float(high[1]))
