"""One floor on the page: its axes, its floor plan and its navigation graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from babywalk.evaluation.figures.layout import WIDTH, Frame, Page, View
from babywalk.evaluation.figures.scene import Floor, Points, Scene, Shape
from babywalk.evaluation.figures.style import PAPER

# Pale enough for every line to stand out on them.
_ROOM_COLOURS = (
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
_GROUND, _WALL, _FURNITURE, _FURNITURE_EDGE, _STAIRS = "#f9f9f7", "#98928b", "#d3ccc1", "#b5ada1", "#e2ddd5"
_ROOM_NAME, _EDGE, _VIEWPOINT = "#8a847c", "#cdd0d4", "#9aa0a6"
_TREAD = 0.28  # metres
_NAME, _LETTER = 5.5, 0.58  # font size in points; the width of a letter relative to it


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """The axes of one floor in one view, in metres, and the boxes that are occupied by text."""

    axes: Axes
    scene: Scene
    floor: int
    view: View
    _occupied: list[tuple[float, float, float, float]] = field(default_factory=list)

    def reserve(self, centre: Points, width: float, height: float) -> bool:
        """Reserve a box, its sides in points, for text; False if it overlaps an occupied one."""
        point = self.view.point
        box = (float(centre[0]), float(centre[1]), width * point, height * point)
        free = not any(
            abs(box[0] - other[0]) < (box[2] + other[2]) / 2
            and abs(box[1] - other[1]) < (box[3] + other[3]) / 2
            for other in self._occupied
        )
        if free:
            self._occupied.append(box)
        return free


def add_panel(figure: Figure, page: Page, view: View, floor: int, scene: Scene) -> Panel:
    """An empty panel at its place on the page."""
    left, bottom, width, height = view.boxes[floor]
    kind = "floor" if view is page.whole else "close-up of floor"
    axes = figure.add_axes(
        (left / WIDTH, bottom / page.height, width / WIDTH, height / page.height),
        label=f"{kind} {floor + 1}",
        xlim=(view.frame.x0, view.frame.x1),
        ylim=(view.frame.y0, view.frame.y1),
        facecolor=_GROUND,
        xticks=(),
        yticks=(),
    )
    axes.spines[:].set_visible(False)
    return Panel(axes, scene, floor, view)


def room_colours(floors: Iterable[Floor]) -> dict[str, str]:
    """A colour for each room name, in alphabetical order; colours repeat."""
    names = sorted({room.name for floor in floors for room in floor.rooms})
    return {name: _ROOM_COLOURS[number % len(_ROOM_COLOURS)] for number, name in enumerate(names)}


def draw_plan(panel: Panel, colours: dict[str, str]) -> None:
    """Rooms, furniture, stairs and doors of one floor."""
    axes, floor = panel.axes, panel.scene.floors[panel.floor]
    for room in floor.rooms:
        colour = colours[room.name]
        axes.add_patch(_rectangle(room, facecolor=colour, edgecolor=_WALL, linewidth=1.2, zorder=1.0))
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
        _draw_room_name(axes, room, panel.view)


def draw_graph(panel: Panel) -> None:
    """Viewpoints as dots, edges as thin lines; of an edge to another floor one half, dotted."""
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
    offsets = [tread * _TREAD for tread in range(1, round(max(width, depth) / _TREAD))]
    if width > depth:
        return [((flight.x0 + s, flight.y0), (flight.x0 + s, flight.y1)) for s in offsets]
    return [((flight.x0, flight.y0 + s), (flight.x1, flight.y0 + s)) for s in offsets]


def _draw_room_name(axes: Axes, room: Shape, view: View) -> None:
    """The name of a room at the top left of its visible part, omitted where it does not fit."""
    visible = room.frame.within(view.frame)
    width, depth = visible.size
    text_width, text_height = (len(room.name) * _LETTER + 1) * _NAME * view.point, 1.6 * _NAME * view.point
    if text_width > max(width, depth) or text_height > min(width, depth):
        return
    inset = 0.5 * _NAME * view.point
    axes.text(
        visible.x0 + inset,
        visible.y1 - inset,
        room.name,
        fontsize=_NAME,
        color=_ROOM_NAME,
        ha="left",
        va="top",
        rotation=90 if text_width > width else 0,
        zorder=1.5,
        parse_math=False,
    )
