"""Rendering of one episode in progress: as text, or as a picture of the house from above."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import NOWHERE, Houses
from babywalk.common.errors import unknown
from babywalk.common.ragged import Integers
from babywalk.episodes.task import Episode
from babywalk.navigation.world import STOP, Poses, World, angles

# Gymnasium requires a frame rate, also for text.
RENDERING: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}

SIZE = 512  # pixels of a side of the picture; the same for all houses, as video encoders require
_MARGIN = 24  # pixels around the viewpoints
_FLOOR = 1.5  # metres above or below the walker, within which a viewpoint is drawn as on its floor

Colour = tuple[int, int, int]
Point = NDArray[np.float64]  # (2,) pixels: right and down
_WHITE: Colour = (255, 255, 255)
_GRAPH: Colour = (170, 170, 170)
_OTHER_FLOOR: Colour = (228, 228, 228)
_GOAL: Colour = (0, 158, 115)
_REFERENCE: Colour = (150, 214, 192)
_TRAJECTORY: Colour = (0, 90, 160)
_WALKER: Colour = (213, 94, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """What a rendering shows of one walker. Shapes: T viewpoints visited, R of the reference."""

    episode: Episode
    pose: Poses  # (1,)
    trajectory: Integers  # (T,) viewpoints, from the start to the walker
    reference: Integers | None  # (R,) viewpoints; None without a goal, as in a test split
    steps: int  # taken so far
    max_steps: int

    @property
    def viewpoint(self) -> int:
        """Where the walker is."""
        return int(self.pose.viewpoint[0])

    @property
    def heading(self) -> float:
        """Where the walker faces: radians clockwise from north."""
        return float(angles(self.pose.view)[0][0])


def check_render_mode(mode: str | None) -> None:
    """Reject an unknown render mode."""
    if mode is not None and mode not in (modes := RENDERING["render_modes"]):
        raise unknown("Render mode", mode, modes)


def render(mode: str, world: World, houses: Houses, shown: Snapshot) -> str | NDArray[np.uint8]:
    """One walker as text ("ansi") or as a picture ("rgb_array")."""
    return render_text(world, houses, shown) if mode == "ansi" else render_picture(houses, shown)


def render_text(world: World, houses: Houses, shown: Snapshot) -> str:
    """The episode, the pose and the possible actions."""
    here, goal = shown.viewpoint, ""
    if shown.reference is not None:
        metres = houses.distance(np.array(here), shown.reference[-1])
        goal = f", {metres:.1f} m from the goal"
    lines = [
        f"{shown.episode.id} in {shown.episode.scan}, step {shown.steps} of {shown.max_steps}",
        shown.episode.instruction,
        f"at {houses.names[here]}, heading {np.degrees(shown.heading):.0f} degrees{goal}",
        f"{STOP:3}  STOP",
    ]
    directions = world.directions(shown.pose)[0]
    for action in np.flatnonzero(world.possible[here]).tolist():
        if action != STOP:
            target = world.target[here, action]
            turn = np.degrees(np.arctan2(directions[action, 0], directions[action, 1]))
            metres = houses.distance(np.array(here), target)
            lines.append(f"{action:3}  {houses.names[target]}, {metres:.1f} m, turn {turn:+.0f} degrees")
    return "\n".join(lines)


def render_picture(houses: Houses, shown: Snapshot) -> NDArray[np.uint8]:
    """(SIZE, SIZE, 3) the house from above, north up.

    Grey: viewpoints and edges, light where on another floor than the walker. Green: the reference path, and a
    disc at the goal. Blue: the trajectory, with a ring at the start. Orange: the walker and its heading.
    """
    house = int(houses.house_of[shown.viewpoint])
    first, last = int(houses.first[house]), int(houses.first[house + 1])
    points = _fit(houses.positions[first:last, :2])
    other_floor = np.abs(houses.positions[first:last, 2] - houses.positions[shown.viewpoint, 2]) > _FLOOR
    canvas = _Canvas()
    # The walker's floor comes last, so that it is on top.
    for level, colour in ((True, _OTHER_FLOOR), (False, _GRAPH)):
        for a in np.flatnonzero(other_floor == level).tolist():
            for b in houses.neighbours[first + a]:
                if b != NOWHERE:
                    # Both ends draw half of an edge: a staircase fades between its floors.
                    canvas.line(points[a], (points[a] + points[b - first]) / 2, 1.5, colour)
            canvas.disc(points[a], 3.0, colour)
    if shown.reference is not None:
        canvas.path(points[shown.reference - first], 7.0, _REFERENCE)
        canvas.disc(points[shown.reference[-1] - first], 9.0, _GOAL)
    walked = points[shown.trajectory - first]
    canvas.path(walked, 3.0, _TRAJECTORY)
    canvas.disc(walked[0], 9.0, _TRAJECTORY)
    canvas.disc(walked[0], 6.5, _WHITE)
    here = points[shown.viewpoint - first]
    canvas.line(here, here + 16.0 * np.array([np.sin(shown.heading), -np.cos(shown.heading)]), 3.0, _WALKER)
    canvas.disc(here, 5.5, _WALKER)
    return canvas.pixels()


def _fit(
    positions: NDArray[np.float64],  # (V, 2) metres: east and north
) -> NDArray[np.float64]:  # (V, 2) pixels
    """Positions scaled to the picture, centred, at equal scales."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    scale = (SIZE - 2 * _MARGIN) / max(float((high - low).max()), 1.0)
    fitted: NDArray[np.float64] = SIZE / 2 + (positions - (low + high) / 2) * scale * np.array([1.0, -1.0])
    return fitted


class _Canvas:
    """A picture with anti-aliased lines and discs: a pixel is covered by its distance to the shape."""

    def __init__(self) -> None:
        self._pixels: NDArray[np.float32] = np.full((SIZE, SIZE, 3), _WHITE, dtype=np.float32)

    def line(self, start: Point, end: Point, width: float, colour: Colour) -> None:
        """A line with round ends; a disc where both ends are the same."""
        radius = width / 2
        low = np.clip(np.floor(np.minimum(start, end) - radius - 1), 0, SIZE).astype(int)
        high = np.clip(np.ceil(np.maximum(start, end) + radius + 2), 0, SIZE).astype(int)
        y, x = np.ogrid[low[1] : high[1], low[0] : high[0]]
        along = end - start
        length = float(along @ along)
        # The nearest point of the line, as a fraction of its length.
        nearest = np.clip(((x - start[0]) * along[0] + (y - start[1]) * along[1]) / (length or 1.0), 0.0, 1.0)
        distance = np.hypot(x - start[0] - nearest * along[0], y - start[1] - nearest * along[1])
        cover = np.clip(radius + 0.5 - distance, 0.0, 1.0)[..., None]
        region = self._pixels[low[1] : high[1], low[0] : high[0]]
        region += (np.array(colour) - region) * cover

    def disc(self, centre: Point, radius: float, colour: Colour) -> None:
        """A filled circle."""
        self.line(centre, centre, 2 * radius, colour)

    def path(self, points: NDArray[np.float64], width: float, colour: Colour) -> None:
        """Lines between consecutive points."""
        for start, end in pairwise(points):
            self.line(start, end, width, colour)

    def pixels(self) -> NDArray[np.uint8]:
        """(SIZE, SIZE, 3) the picture."""
        return np.rint(self._pixels).astype(np.uint8)
