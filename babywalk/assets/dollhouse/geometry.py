"""Plane geometry on arrays: which line segments cross which walls and rectangles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Rect:
    """An axis-aligned rectangle, in metres."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """The extent along x."""
        return self.x1 - self.x0

    @property
    def depth(self) -> float:
        """The extent along y."""
        return self.y1 - self.y0

    @property
    def area(self) -> float:
        """Square metres."""
        return self.width * self.depth

    @property
    def centre(self) -> Point:
        """The point in the middle."""
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    def expanded(self, margin: float) -> Rect:
        """The rectangle with `margin` added on every side; a negative margin shrinks it."""
        return Rect(self.x0 - margin, self.y0 - margin, self.x1 + margin, self.y1 + margin)

    def overlaps(self, other: Rect) -> bool:
        """Whether the two share an area; touching edges do not count."""
        return self.x0 < other.x1 and other.x0 < self.x1 and self.y0 < other.y1 and other.y0 < self.y1

    def contains(self, other: Rect) -> bool:
        """Whether the other lies inside, edges included."""
        return self.x0 <= other.x0 and self.y0 <= other.y0 and other.x1 <= self.x1 and other.y1 <= self.y1


def corners(rects: Iterable[Rect]) -> Floats:
    """Rectangles as rows x0, y0, x1, y1."""
    return np.array([(r.x0, r.y0, r.x1, r.y1) for r in rects], dtype=np.float64).reshape(-1, 4)


def crossings(starts: Floats, ends: Floats, walls: Floats) -> Bools:
    """Which line segments cross which walls; a segment that ends at a wall does not cross it.

    Shapes: starts and ends (M, 2), walls (K, 4) as x0, y0, x1, y1; the result is (M, K).
    """
    a, b = starts[:, None, :], ends[:, None, :]
    c, d = walls[None, :, :2], walls[None, :, 2:]
    return (_side(a, b, c) * _side(a, b, d) < 0) & (_side(c, d, a) * _side(c, d, b) < 0)


def enters(starts: Floats, ends: Floats, rects: Floats) -> Bools:
    """Which line segments enter which rectangles. Shapes: (M, 2), (M, 2), (K, 4) give (M, K)."""
    step = ends - starts
    step = np.where(np.abs(step) < 1e-12, 1e-12, step)[:, None, :]
    low = (rects[None, :, :2] - starts[:, None, :]) / step
    high = (rects[None, :, 2:] - starts[:, None, :]) / step
    enter = np.minimum(low, high).max(axis=2)
    leave = np.maximum(low, high).min(axis=2)
    inside: Bools = (enter < leave) & (leave > 0) & (enter < 1)
    return inside


def ray_lengths(origins: Floats, directions: Floats, walls: Floats, far: float) -> Floats:
    """Metres along each ray to the nearest wall, at most `far`.

    Shapes: origins (N, 2), directions (R, 2), walls (K, 4) give (N, R).
    """
    along = walls[:, 2:] - walls[:, :2]
    to_wall = walls[None, :, :2] - origins[:, None, :]  # (N, K, 2)
    slope = directions[:, None, 0] * along[None, :, 1] - directions[:, None, 1] * along[None, :, 0]  # (R, K)
    slope = np.where(np.abs(slope) < 1e-12, np.nan, slope)[None]
    with np.errstate(invalid="ignore"):
        distance = (to_wall[:, None, :, 0] * along[:, 1] - to_wall[:, None, :, 1] * along[:, 0]) / slope
        share = (
            to_wall[:, None, :, 0] * directions[None, :, None, 1]
            - to_wall[:, None, :, 1] * directions[None, :, None, 0]
        ) / slope
        hit = (distance > 0) & (share >= 0) & (share <= 1)
    nearest: Floats = np.where(hit, distance, far).min(axis=2)
    return np.minimum(nearest, far)


def wrap_angle(angle: float) -> float:
    """An angle wrapped into [-pi, pi)."""
    return float((angle + np.pi) % (2 * np.pi) - np.pi)


def heading(start: Floats, end: Floats) -> float:
    """The direction from one point to another: 0 along +y, clockwise, in [0, 2 pi)."""
    return float(np.arctan2(end[0] - start[0], end[1] - start[1]) % (2 * np.pi))


def _side(a: Floats, b: Floats, p: Floats) -> Floats:
    """The sign says on which side of the line a-b the point p lies; zero within rounding error."""
    area = (b[..., 0] - a[..., 0]) * (p[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
        p[..., 0] - a[..., 0]
    )
    signs: Floats = np.where(np.abs(area) < 1e-9, 0.0, area)
    return signs
