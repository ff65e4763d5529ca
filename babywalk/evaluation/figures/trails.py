"""Trajectories as lines to draw: where several share an edge, each has its own lane beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from babywalk.evaluation.figures.layout import View
from babywalk.evaluation.figures.scene import Points, Scene, Trajectory

NO_STEP = -1  # the Baby-Step of a move that belongs to none
_MAX_LANES = 5.0  # distance between the outermost lanes, in lanes
_CURVE_SHARE = 0.3  # of a move, at most, is spent on the curve at either end
_CURVE = np.linspace(0.0, 1.0, 9)[:, None]
_LANE, _NARROW_LANE, _CORNER = 6.0, 2.2, 9.0  # points
_NUMBER_OFFSETS = (10.0, 19.0)  # points from a viewpoint, tried in turn for a number that does not fit there

_Visit = tuple[int, list[int]]  # a viewpoint, and the consecutive indices into the path that are spent there


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """The part of one move that lies on one floor."""

    line: Points
    step: int  # its Baby-Step, from 0, or NO_STEP
    to_floor: int | None = None  # set if it leaves for another floor
    from_floor: int | None = None  # set if it arrives from another floor


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """The move numbers at which a viewpoint is reached, and where the text may stand."""

    moves: tuple[int, ...]
    places: list[Points]  # each (2,), in order of preference


@dataclass(frozen=True, slots=True, eq=False)
class Trail:
    """A trajectory as lines. Viewpoints are those of the scene."""

    start: int
    end: int
    tip: Points  # (2,) where its line ends: at `end`, or beside it
    stretches: dict[int, list[Stretch]]  # by floor, in the order of the moves
    numbers: dict[int, Number]  # by viewpoint, for those between the ends


def build_trails(trajectories: Sequence[Trajectory], scene: Scene, view: View) -> list[Trail]:
    """Trajectories as lines, side by side where they share an edge."""
    visits = [_visits(one, scene) for one in trajectories]
    offsets = lanes([[viewpoint for viewpoint, _ in visited] for visited in visits])
    return [_trail(*each, scene, view) for each in zip(trajectories, visits, offsets, strict=True)]


def lanes(paths: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
    """For each path, (n - 1,) how many lanes to the right of its direction each move is drawn.

    Consecutive viewpoints of a path differ. The moves over one edge, of any path in either direction, are
    centred about it in the order of the paths, and closer than a lane where they are many.
    """
    users: defaultdict[tuple[int, int], list[tuple[int, int, bool]]] = defaultdict(list)
    for number, path in enumerate(paths):
        for move, (a, b) in enumerate(pairwise(path)):
            users[min(a, b), max(a, b)].append((number, move, a < b))
    result = [np.zeros(max(0, len(path) - 1)) for path in paths]
    for sharing in users.values():
        # Sides are relative to the first path, so paths in the same direction never change sides.
        reference, last = sharing[0][2], len(sharing) - 1
        for slot, (number, move, direction) in enumerate(sharing):
            lane = (slot - last / 2) * min(1.0, _MAX_LANES / max(1, last))
            result[number][move] = lane if direction == reference else -lane
    return result


def track(points: Points, lane: NDArray[np.float64], *, width: float, corner: float) -> list[Points]:
    """The line of each move, joined by curves: each line begins where the one before it ends.

    The first begins at its point; all others stay in their lanes. `width` is that of a lane and `corner` the
    radius of a curve, in the unit of `points` (n, 2). Consecutive points differ.
    """
    if len(points) < 2:
        return []
    step = np.diff(points, axis=0)
    distance = np.hypot(step[:, 0], step[:, 1])[:, None]
    ahead = step / np.maximum(distance, 1e-9)
    aside = ahead[:, ::-1] * (1.0, -1.0) * lane[:, None] * width
    begin, end = points[:-1] + aside, points[1:] + aside
    cut = ahead * np.minimum(corner, _CURVE_SHARE * distance)
    corners = (end[:-1] + begin[1:]) / 2
    bends = [_bend(*ends) for ends in zip(end[:-1] - cut[:-1], corners, begin[1:] + cut[1:], strict=True)]
    half = len(_CURVE) // 2
    first = [_bend(points[0], begin[0], begin[0] + cut[0]), *(bend[half:] for bend in bends)]
    last = [*(bend[: half + 1] for bend in bends), end[-1:]]
    return [np.concatenate(pieces) for pieces in zip(first, last, strict=True)]


def halves(line: Points) -> tuple[Points, Points]:
    """A line split in the middle of its length."""
    middle = point_along(line, 0.5)[0]
    reached = _cumulative_length(line)
    first = reached < reached[-1] / 2
    return np.vstack([line[first], middle]), np.vstack([middle, line[~first]])


def point_along(line: Points, share: float) -> tuple[Points, Points]:
    """The point at a share of a line's length, and the unit direction there."""
    reached = _cumulative_length(line)
    at = share * reached[-1]
    piece = int(np.clip(np.searchsorted(reached, at, side="right") - 1, 0, len(line) - 2))
    step = line[piece + 1] - line[piece]
    direction = step / max(float(np.hypot(*step)), 1e-9)
    return line[piece] + direction * (at - reached[piece]), direction


def line_length(line: Points) -> float:
    """The length of a polyline."""
    return float(_cumulative_length(line)[-1])


def _cumulative_length(line: Points) -> NDArray[np.float64]:
    step = np.diff(line, axis=0)
    return np.concatenate([[0.0], np.cumsum(np.hypot(step[:, 0], step[:, 1]))])


def _bend(start: Points, corner: Points, end: Points) -> Points:
    """A quadratic Bezier curve."""
    curve: Points = (1 - _CURVE) ** 2 * start + 2 * _CURVE * (1 - _CURVE) * corner + _CURVE**2 * end
    return curve


def _visits(one: Trajectory, scene: Scene) -> list[_Visit]:
    """The viewpoints of a trajectory; staying at one is one visit."""
    visited: list[_Visit] = []
    for index, viewpoint in enumerate(one.path):
        if not visited or visited[-1][0] != viewpoint - scene.first:
            visited.append((viewpoint - scene.first, []))
        visited[-1][1].append(index)
    return visited


def _trail(
    one: Trajectory, visited: list[_Visit], lane: NDArray[np.float64], scene: Scene, view: View
) -> Trail:
    stops = [viewpoint for viewpoint, _ in visited]
    width = _LANE if view.detailed else _NARROW_LANE
    lines = track(scene.points[stops], lane, width=width * view.point, corner=_CORNER * view.point)
    stretches: dict[int, list[Stretch]] = {}
    for (a, indices), (b, _), line in zip(visited, visited[1:], lines, strict=False):
        for floor, stretch in _stretches(line, _step(one, indices[-1]), *scene.floor_of[[a, b]].tolist()):
            stretches.setdefault(floor, []).append(stretch)
    numbers: dict[int, Number] = {}
    for (viewpoint, indices), before, after in zip(visited[1:-1], lines, lines[1:], strict=False):
        earlier = numbers.get(viewpoint, Number((), _number_places(before, after, view)))
        numbers[viewpoint] = replace(earlier, moves=(*earlier.moves, *indices))
    tip = lines[-1][-1] if lines else scene.points[stops[-1]]
    return Trail(stops[0], stops[-1], tip, stretches, numbers)


def _number_places(before: Points, after: Points, view: View) -> list[Points]:
    """At the corner of two lines, or a short way along either."""
    places = [after[0]]
    for points in _NUMBER_OFFSETS:
        for line in (before[::-1], after):
            share = points * view.point / max(line_length(line), 1e-9)
            if share < 0.45:
                places.append(point_along(line, share)[0])
    return places


def _stretches(line: Points, step: int, a: int, b: int) -> list[tuple[int, Stretch]]:
    """A move by floor: whole on one floor, or half on each of two."""
    if a == b:
        return [(a, Stretch(line, step))]
    first, second = halves(line)
    return [(a, Stretch(first, step, to_floor=b)), (b, Stretch(second, step, from_floor=a))]


def _step(one: Trajectory, index: int) -> int:
    """The Baby-Step of the move that leaves an index of the path."""
    step = int(np.searchsorted(one.steps, index, side="right"))
    return step if step < len(one.steps) else NO_STEP
