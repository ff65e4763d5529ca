"""Walks drawn side by side: where several share an edge, each gets a lane of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]  # (n, 2)

_WIDEST = 5  # lanes from the first to the last
_CORNER = 0.3  # of a step, at most, is spent on the curve at either end
_CURVE = np.linspace(0.0, 1.0, 9)[:, None]


def lanes(paths: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
    """For each path, (n - 1,) how many lanes to the right of its walking direction each step is drawn.

    No path stays where it is. The steps over one edge, of whichever path and direction, lie centred
    about it, in the order of the paths; where they are many, closer than a lane.
    """
    users: defaultdict[tuple[int, int], list[tuple[int, int, bool]]] = defaultdict(list)
    for number, path in enumerate(paths):
        for step, (a, b) in enumerate(pairwise(path)):
            users[min(a, b), max(a, b)].append((number, step, a < b))
    result = [np.zeros(max(0, len(path) - 1)) for path in paths]
    for sharing in users.values():
        # Sides are those of the first user: paths that walk together then never change sides.
        onward, last = sharing[0][2], len(sharing) - 1
        for slot, (number, step, direction) in enumerate(sharing):
            lane = (slot - last / 2) * min(1.0, _WIDEST / max(1, last))
            result[number][step] = lane if direction == onward else -lane
    return result


def track(points: Points, lane: NDArray[np.float64], *, width: float, corner: float) -> list[Points]:
    """The line of each step, joined by curves: where one line ends, the next begins.

    The first begins at its point, all others keep to their lanes.
    `width` is that of a lane and `corner` the radius of a curve, in the unit of `points` (n, 2), no two
    of which follow each other at the same place.
    """
    if len(points) < 2:
        return []
    step = np.diff(points, axis=0)
    far = np.hypot(step[:, 0], step[:, 1])[:, None]
    ahead = step / np.maximum(far, 1e-9)
    aside = ahead[:, ::-1] * (1.0, -1.0) * lane[:, None] * width
    begin, end = points[:-1] + aside, points[1:] + aside
    cut = ahead * np.minimum(corner, _CORNER * far)
    corners = (end[:-1] + begin[1:]) / 2
    bends = [_bend(*ends) for ends in zip(end[:-1] - cut[:-1], corners, begin[1:] + cut[1:], strict=True)]
    half = len(_CURVE) // 2
    first = [_bend(points[0], begin[0], begin[0] + cut[0]), *(bend[half:] for bend in bends)]
    last = [*(bend[: half + 1] for bend in bends), end[-1:]]
    return [np.concatenate(pieces) for pieces in zip(first, last, strict=True)]


def halves(line: Points) -> tuple[Points, Points]:
    """A line cut in the middle of its length."""
    middle = along(line, 0.5)[0]
    reached = _reached(line)
    first = reached < reached[-1] / 2
    return np.vstack([line[first], middle]), np.vstack([middle, line[~first]])


def along(line: Points, share: float) -> tuple[Points, Points]:
    """The point at a share of a line's length, and the direction there as a vector of length 1."""
    reached = _reached(line)
    at = share * reached[-1]
    piece = int(np.clip(np.searchsorted(reached, at, side="right") - 1, 0, len(line) - 2))
    step = line[piece + 1] - line[piece]
    size = max(float(np.hypot(*step)), 1e-9)
    direction = step / size
    return line[piece] + direction * (at - reached[piece]), direction


def length(line: Points) -> float:
    """How long a line is."""
    return float(_reached(line)[-1])


def _reached(line: Points) -> NDArray[np.float64]:
    step = np.diff(line, axis=0)
    return np.concatenate([[0.0], np.cumsum(np.hypot(step[:, 0], step[:, 1]))])


def _bend(start: Points, corner: Points, end: Points) -> Points:
    """A quadratic Bezier curve."""
    curve: Points = (1 - _CURVE) ** 2 * start + 2 * _CURVE * (1 - _CURVE) * corner + _CURVE**2 * end
    return curve
