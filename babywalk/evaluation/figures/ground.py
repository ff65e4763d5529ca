"""What a house looks like before anybody walks in it: rooms, furniture, viewpoints and edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.patches import Rectangle

from babywalk.evaluation.figures.canvas import PAPER
from babywalk.evaluation.figures.floorplan import Floor, Shape
from babywalk.evaluation.figures.page import Frame, View
from babywalk.evaluation.figures.panel import Panel

# Pale enough for every line to stand out on them.
_TINTS = (
    "#f4efe4",
    "#e6eff6",
    "#eaf4e6",
    "#f8e9ea",
    "#efeaf7",
    "#f9f4d8",
    "#e3f3f1",
    "#f6e6d8",
    "#eceef0",
    "#f0f5d9",
    "#fbe9dd",
    "#e4e9f7",
    "#f5e6f2",
)
_WALL, _FURNITURE, _FURNITURE_EDGE, _STAIRS = "#98928b", "#d3ccc1", "#b5ada1", "#e2ddd5"
_ROOM_NAME, _EDGE, _VIEWPOINT = "#8a847c", "#cdd0d4", "#9aa0a6"
_TREAD = 0.28  # metres
_NAME, _LETTER = 5.5, 0.58  # points; the width of a letter in heights


def tints(floors: Iterable[Floor]) -> dict[str, str]:
    """A colour for each name of a room; neighbours in the alphabet differ."""
    names = sorted({room.name for floor in floors for room in floor.rooms})
    return {name: _TINTS[number % len(_TINTS)] for number, name in enumerate(names)}


def paint_plan(panel: Panel, tint: dict[str, str]) -> None:
    """Rooms, furniture, stairs and doors of one floor."""
    axes, floor = panel.axes, panel.scene.floors[panel.floor]
    for room in floor.rooms:
        axes.add_patch(
            _rectangle(room, facecolor=tint[room.name], edgecolor=_WALL, linewidth=1.2, zorder=1.0)
        )
    for shapes, style in (
        (floor.stairs, {"facecolor": _STAIRS, "edgecolor": _WALL}),
        (floor.furniture, {"facecolor": _FURNITURE, "edgecolor": _FURNITURE_EDGE, "alpha": 0.6}),
    ):
        patches = [_rectangle(shape) for shape in shapes]
        axes.add_collection(PatchCollection(patches, linewidth=0.4, zorder=1.1, **style))
    treads = [line for flight in floor.stairs for line in _treads(flight.frame)]
    axes.add_collection(LineCollection(treads, colors=_WALL, linewidths=0.4, zorder=1.2))
    gaps = [((gap.x0, gap.y0), (gap.x1, gap.y1)) for gap in (door.frame for door in floor.doors)]
    axes.add_collection(LineCollection(gaps, colors=PAPER, linewidths=2.2, zorder=1.2, capstyle="butt"))
    for room in floor.rooms:
        _name(axes, room, panel.view)


def paint_graph(panel: Panel) -> None:
    """Viewpoints as dots and edges as thin lines; half of those that lead to another floor, broken."""
    axes, scene, floor = panel.axes, panel.scene, panel.floor
    here = scene.floor_of[scene.edges] == floor  # (E, 2)
    ends = scene.points[scene.edges]  # (E, 2, 2)
    ends = np.where(here[:, :, None], ends, ends.mean(axis=1, keepdims=True))
    level, leaving = here.all(axis=1), here.any(axis=1) & ~here.all(axis=1)
    axes.add_collection(LineCollection(list(ends[level]), colors=_EDGE, linewidths=0.6, zorder=2.0))
    axes.add_collection(
        LineCollection(list(ends[leaving]), colors=_VIEWPOINT, linewidths=0.8, linestyles=":", zorder=2.0)
    )
    dots = scene.points[scene.floor_of == floor]
    size = 5 if panel.view.detailed else 2
    axes.scatter(dots[:, 0], dots[:, 1], s=size, color=_VIEWPOINT, linewidths=0, zorder=2.1)


def _rectangle(shape: Shape, **style: Any) -> Rectangle:
    return Rectangle((shape.frame.x0, shape.frame.y0), *shape.frame.size, **style)


def _treads(flight: Frame) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The edges of the steps, across the long side."""
    width, depth = flight.size
    along = [tread * _TREAD for tread in range(1, round(max(width, depth) / _TREAD))]
    if width > depth:
        return [((flight.x0 + s, flight.y0), (flight.x0 + s, flight.y1)) for s in along]
    return [((flight.x0, flight.y0 + s), (flight.x1, flight.y0 + s)) for s in along]


def _name(axes: Axes, room: Shape, view: View) -> None:
    """The name of a room at the top left of what is seen of it, left out where it does not fit."""
    seen = room.frame.within(view.frame)
    width, depth = seen.size
    long, high = (len(room.name) * _LETTER + 1) * _NAME * view.point, 1.6 * _NAME * view.point
    upright = long > width
    if long > max(width, depth) or high > min(width, depth):
        return
    inset = 0.5 * _NAME * view.point
    axes.text(
        seen.x0 + inset,
        seen.y1 - inset,
        room.name,
        fontsize=_NAME,
        color=_ROOM_NAME,
        ha="left",
        va="top",
        rotation=90 if upright else 0,
        zorder=1.5,
        parse_math=False,
    )
