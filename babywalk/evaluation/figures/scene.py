"""What a picture of a house shows, before anything is drawn: floors, edges, and trajectories as lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import NOWHERE, Houses
from babywalk.common.errors import ConfigError, shortlist
from babywalk.evaluation.figures.floorplan import Floor, read_plan
from babywalk.evaluation.figures.floors import floor_heights, nearest_floor
from babywalk.evaluation.figures.lanes import Points, along, halves, lanes, length, track
from babywalk.evaluation.figures.page import Frame, View

_RIM, _RIM_SHARE = 0.8, 0.04  # metres shown around a house, or a share of its size if that is more
_NEARBY = 3.0  # metres shown around trajectories in a close-up
NO_STEP = -1  # where a move is part of no known Baby-Step
_LANE, _NARROW_LANE, _CORNER = 6.0, 2.2, 9.0  # points
_BESIDE = (10.0, 19.0)  # points between a viewpoint and a number that has no room there


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A walk through one house, and where its Baby-Steps end if that is known."""

    label: str  # "expert", "shortest", an agent's name
    path: tuple[int, ...]  # global viewpoints of Houses, one house, never empty
    steps: tuple[int, ...] = ()  # index into path where each Baby-Step ends, never falling; empty: not known


@dataclass(frozen=True, slots=True, eq=False)
class HouseDrawing:
    """One house. Viewpoints are numbered from 0 within it. Shapes: N viewpoints, E edges."""

    first: int  # the house's first viewpoint in Houses
    points: Points  # (N, 2) metres
    edges: NDArray[np.int64]  # (E, 2) viewpoints
    floor_of: NDArray[np.int64]  # (N,) from 0, the lowest
    floors: tuple[Floor, ...]  # what is drawn behind each; nothing where there is no plan

    @property
    def frame(self) -> Frame:
        """What encloses all floors, with a rim."""
        rooms = [room.frame for floor in self.floors for room in floor.rooms]
        corners = [(x, y) for room in rooms for x, y in ((room.x0, room.y0), (room.x1, room.y1))]
        everything = np.concatenate([self.points, np.reshape(corners, (-1, 2))])
        return _around(everything, max(_RIM, _RIM_SHARE * float(np.ptp(everything, axis=0).max())))


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """The part of one move that lies on one floor."""

    line: Points
    step: int  # its Baby-Step, from 0, or NO_STEP
    towards: int | None = None  # the floor to which it leads away
    since: int | None = None  # the floor from which it comes


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """After how many moves a viewpoint is reached, each time, and where that may be written."""

    moves: tuple[int, ...]
    places: list[Points]  # each (2,), the best first


@dataclass(frozen=True, slots=True, eq=False)
class Trail:
    """A trajectory on paper. Viewpoints are those of the scene."""

    start: int
    end: int
    last: Points  # (2,) where its line ends: at `end`, or beside it
    stretches: dict[int, list[Stretch]]  # by floor, in the order of the walk
    numbers: dict[int, Number]  # by viewpoint, for those between the ends


def build_scene(houses: Houses, scan: str, plan: Path | None) -> HouseDrawing:
    """A house, and what its plan says lies on each floor."""
    numbers = houses.viewpoints(scan).values()
    first, end = min(numbers), max(numbers) + 1
    positions, neighbours = houses.positions[first:end], houses.neighbours[first:end]
    tail, slot = np.nonzero(neighbours != NOWHERE)
    head = neighbours[tail, slot] - first
    drawn = read_plan(plan) if plan else ()
    heights = floor_heights(positions[:, 2], most=len(drawn) or None)
    return HouseDrawing(
        first=first,
        points=positions[:, :2],
        edges=np.column_stack([tail, head])[tail < head],
        floor_of=nearest_floor(positions[:, 2], heights),
        floors=drawn + (Floor(),) * (len(heights) - len(drawn)),
    )


def check_trajectories(trajectories: Sequence[Trajectory], houses: Houses, scan: str) -> None:
    """Refuse what is not a walk through the given house."""
    inside = set(houses.viewpoints(scan).values())
    for one in trajectories:
        if not one.path:
            raise ConfigError(f"Trajectory {one.label!r} has no viewpoint. Give at least its start.")
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
                f"Give rising positions in its path, from 0 to {len(one.path) - 1}."
            )


def walked_frame(trajectories: Sequence[Trajectory], scene: HouseDrawing) -> tuple[Frame | None, list[int]]:
    """What encloses all trajectories, and on which floors they are; None where there is none."""
    visited = sorted({viewpoint - scene.first for one in trajectories for viewpoint in one.path})
    if not visited:
        return None, []
    floors = sorted(set(scene.floor_of[visited].tolist()))
    return _around(scene.points[visited], _NEARBY).within(scene.frame), floors


def build_trails(trajectories: Sequence[Trajectory], scene: HouseDrawing, view: View) -> list[Trail]:
    """Trajectories as lines, side by side where they share an edge."""
    visits = [_visits(one, scene) for one in trajectories]
    lane = lanes([[viewpoint for viewpoint, _ in visited] for visited in visits])
    return [_trail(*each, scene, view) for each in zip(trajectories, visits, lane, strict=True)]


def _around(points: Points, rim: float) -> Frame:
    low, high = points.min(axis=0) - rim, points.max(axis=0) + rim
    return Frame(float(low[0]), float(low[1]), float(high[0]), float(high[1]))


def _visits(one: Trajectory, scene: HouseDrawing) -> list[tuple[int, list[int]]]:
    """The viewpoints of a walk with the positions in its path; staying at one is one visit."""
    visited: list[tuple[int, list[int]]] = []
    for position, viewpoint in enumerate(one.path):
        if not visited or visited[-1][0] != viewpoint - scene.first:
            visited.append((viewpoint - scene.first, []))
        visited[-1][1].append(position)
    return visited


def _trail(
    one: Trajectory,
    visited: list[tuple[int, list[int]]],
    lane: NDArray[np.float64],
    scene: HouseDrawing,
    view: View,
) -> Trail:
    stops = [viewpoint for viewpoint, _ in visited]
    width = _LANE if view.detailed else _NARROW_LANE
    lines = track(scene.points[stops], lane, width=width * view.point, corner=_CORNER * view.point)
    stretches: dict[int, list[Stretch]] = {}
    for (a, positions), (b, _), line in zip(visited, visited[1:], lines, strict=False):
        for floor, stretch in _stretches(line, _step(one, positions[-1]), *scene.floor_of[[a, b]].tolist()):
            stretches.setdefault(floor, []).append(stretch)
    numbers: dict[int, Number] = {}
    for (viewpoint, positions), before, after in zip(visited[1:-1], lines, lines[1:], strict=False):
        earlier = numbers.get(viewpoint, Number((), _number_places(before, after, view)))
        numbers[viewpoint] = replace(earlier, moves=(*earlier.moves, *positions))
    last = lines[-1][-1] if lines else scene.points[stops[-1]]
    return Trail(stops[0], stops[-1], last, stretches, numbers)


def _number_places(before: Points, after: Points, view: View) -> list[Points]:
    """At the corner of two lines, or a little along either."""
    places = [after[0]]
    for points in _BESIDE:
        for line in (before[::-1], after):
            share = points * view.point / max(length(line), 1e-9)
            if share < 0.45:
                places.append(along(line, share)[0])
    return places


def _stretches(line: Points, step: int, a: int, b: int) -> list[tuple[int, Stretch]]:
    """A move on its floor, or half of it on each of two."""
    if a == b:
        return [(a, Stretch(line, step))]
    first, second = halves(line)
    return [(a, Stretch(first, step, towards=b)), (b, Stretch(second, step, since=a))]


def _step(one: Trajectory, position: int) -> int:
    """The Baby-Step of the move that leaves a position of the path."""
    step = int(np.searchsorted(one.steps, position, side="right"))
    return step if step < len(one.steps) else NO_STEP
