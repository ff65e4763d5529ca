"""Drawing trajectories: lines with arrowheads, move numbers, start and end markers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import Rectangle

from babywalk.evaluation.figures.layout import Frame
from babywalk.evaluation.figures.panel import Panel
from babywalk.evaluation.figures.scene import Points
from babywalk.evaluation.figures.style import INK, PAPER, SOFT, line_colour, text_colour
from babywalk.evaluation.figures.trails import NO_STEP, Stretch, Trail, line_length, point_along

# Sizes are in points. A line with Baby-Steps has its own colour as a rim, and the steps' colours inside.
LINE, RIM, _INSIDE, STEP_LINE = 2.4, 5.0, 3.6, 2.6
_HALO = 1.2
_ARROW, _MIN_ARROW_LINE = 4.6, 13.0
_TEXT, _LETTER = 5.5, 0.66  # font size; the width of a letter relative to it
_MAX_NUMBERS = 4  # at one viewpoint
_STAR = 10.0
_SAME_PLACE = 30.0  # trajectories that change floors within this distance share a text
START: dict[str, Any] = {
    "marker": "o",
    "markersize": 10.0,
    "markerfacecolor": PAPER,
    "markeredgecolor": INK,
    "markeredgewidth": 1.8,
}
END: dict[str, Any] = {"marker": "*", "markersize": _STAR, "markeredgecolor": PAPER, "markeredgewidth": 0.7}
# The boxes of numbers differ by line, so that lines differ in more than colour.
_BOXES = ("round,pad=0.25,rounding_size=0.6", "square,pad=0.22", "ellipse,pad=0.12")
# Light and dark alternate, so that consecutive Baby-Steps differ for colour-blind readers too.
_STEPS = ("#f2c500", "#4a2377", "#5cc9a7", "#a3195b", "#a6d854", "#274690", "#f58f6c", "#1b6b4f")
_OFFSETS = ((0, -9), (0, 9), (22, 0), (-22, 0), (22, -9), (-22, 9))  # of a text beside a place, tried in turn


def step_colour(step: int) -> str:
    """The colour of a Baby-Step, the same in every trajectory; colours repeat after eight."""
    return SOFT if step == NO_STEP else _STEPS[step % len(_STEPS)]


def draw_trails(panel: Panel, trails: Sequence[Trail]) -> None:
    """The parts of trajectories on one floor; in a view that is not detailed only lines and end markers."""
    for number, trail in enumerate(trails):
        _draw_line(panel, trail.stretches.get(panel.floor, []), number)
    _draw_ends(panel, trails)
    if not panel.view.detailed:
        return
    for number, trail in enumerate(trails):
        _draw_numbers(panel, trail, number)
    _draw_floor_changes(
        panel, [stretch for trail in trails for stretch in trail.stretches.get(panel.floor, [])]
    )


def draw_frame(panel: Panel, frame: Frame) -> None:
    """The outline of the area that a close-up shows."""
    panel.axes.add_patch(
        Rectangle(
            (frame.x0, frame.y0),
            *frame.size,
            fill=False,
            edgecolor=SOFT,
            linewidth=0.8,
            linestyle="--",
            clip_on=False,
            zorder=5,
        )
    )


def _draw_line(panel: Panel, stretches: Sequence[Stretch], number: int) -> None:
    colour, zorder, detailed = line_colour(number), 3.0 + 0.01 * number, panel.view.detailed
    lines = [stretch.line for stretch in stretches]
    stepped = detailed and any(stretch.step != NO_STEP for stretch in stretches)
    outer = RIM if stepped else LINE
    layers: list[tuple[float, str | list[str]]] = [(outer + 2 * _HALO, PAPER), (outer, colour)]
    if stepped:
        layers += [(_INSIDE, PAPER), (STEP_LINE, [step_colour(stretch.step) for stretch in stretches])]
    for level, (width, colours) in enumerate(layers):
        panel.axes.add_collection(
            LineCollection(
                lines,
                colors=colours,
                linewidths=width if detailed else 0.6 * width,
                capstyle="round",
                joinstyle="round",
                zorder=zorder + 0.001 * level,
            )
        )
    if detailed:
        point = panel.view.point
        heads = [
            _arrow(line, _ARROW * point) for line in lines if line_length(line) > _MIN_ARROW_LINE * point
        ]
        panel.axes.add_collection(
            PolyCollection(heads, facecolors=colour, edgecolors=PAPER, linewidths=0.5, zorder=zorder + 0.005)
        )


def _draw_ends(panel: Panel, trails: Sequence[Trail]) -> None:
    """A ring at every start, a star in the line's colour at every end."""
    scene, size = panel.scene, 1.0 if panel.view.detailed else 0.7
    for start in dict.fromkeys(trail.start for trail in trails if scene.floor_of[trail.start] == panel.floor):
        (ring,) = panel.axes.plot(*scene.points[start], **START, zorder=4.4)
        ring.set_markersize(START["markersize"] * size)
        panel.reserve(scene.points[start], START["markersize"], START["markersize"])
    lines_by_end: defaultdict[int, list[int]] = defaultdict(list)
    for number, trail in enumerate(trails):
        if scene.floor_of[trail.end] == panel.floor:
            lines_by_end[trail.end].append(number)
    for end, numbers in lines_by_end.items():
        centre = scene.points[end] if len(numbers) > 1 else trails[numbers[0]].tip
        tips = np.array([trails[number].tip for number in numbers])
        for index, place in zip(
            *_star_row(centre, tips, 0.75 * _STAR * size * panel.view.point), strict=True
        ):
            colour = line_colour(numbers[index])
            (star,) = panel.axes.plot(*place, **END, markerfacecolor=colour, zorder=4.5)
            star.set_markersize(_STAR * size)
            panel.reserve(place, 0.8 * _STAR, 0.8 * _STAR)


def _star_row(centre: Points, tips: Points, spacing: float) -> tuple[list[int], Points]:
    """Places in a row about a viewpoint, one for each line that ends there, and the line of each.

    The row lies across the lines, in their order, so that no line crosses another to its star.
    """
    axis = int(np.argmax(np.ptp(tips, axis=0)))
    order = np.argsort(tips[:, axis], kind="stable")
    places = np.repeat(centre[None], len(tips), axis=0)
    places[:, axis] += (np.arange(len(tips)) - (len(tips) - 1) / 2) * spacing
    return order.tolist(), places


def _draw_numbers(panel: Panel, trail: Trail, number: int) -> None:
    """The move numbers at each viewpoint, omitted where they do not fit."""
    colour = line_colour(number)
    for viewpoint, found in trail.numbers.items():
        if panel.scene.floor_of[viewpoint] != panel.floor:
            continue
        text = _move_numbers(found.moves)
        size = (_LETTER * len(text) + 0.8) * _TEXT, 1.5 * _TEXT
        place = next((place for place in found.places if panel.reserve(place, *size)), None)
        if place is not None:
            _draw_text(panel, place, text, _BOXES[number % len(_BOXES)], text_colour(colour), colour, PAPER)


def _move_numbers(moves: Sequence[int]) -> str:
    """Move numbers as text, abbreviated if there are many."""
    shown = list(map(str, moves))
    return ",".join(shown) if len(shown) <= _MAX_NUMBERS else f"{shown[0]},{shown[1]}…{shown[-1]}"


def _draw_floor_changes(panel: Panel, stretches: Sequence[Stretch]) -> None:
    """Texts where trajectories leave for, or arrive from, another floor."""
    drawn: list[tuple[str, Points]] = []
    for stretch in stretches:
        if stretch.to_floor is not None:
            text, place = f"to floor {stretch.to_floor + 1}", stretch.line[-1]
        elif stretch.from_floor is not None:
            text, place = f"from floor {stretch.from_floor + 1}", stretch.line[0]
        else:
            continue
        near = _SAME_PLACE * panel.view.point
        if not any(text == other and np.hypot(*(place - there)) < near for other, there in drawn):
            drawn.append((text, place))
            _draw_beside(panel, place, text)


def _draw_beside(panel: Panel, place: Points, text: str) -> None:
    for offset in _OFFSETS:
        beside = place + np.array(offset) * panel.view.point
        if panel.reserve(beside, (_LETTER * len(text) + 0.8) * _TEXT, 1.7 * _TEXT):
            _draw_text(panel, beside, text, "round,pad=0.2", INK, PAPER, SOFT)
            return


def _draw_text(panel: Panel, place: Points, text: str, box: str, ink: str, background: str, rim: str) -> None:
    panel.axes.text(
        float(place[0]),
        float(place[1]),
        text,
        fontsize=_TEXT,
        fontweight="bold" if rim == PAPER else "normal",
        color=ink,
        ha="center",
        va="center_baseline",
        zorder=4.2,
        bbox={"boxstyle": box, "facecolor": background, "edgecolor": rim, "linewidth": 0.6},
    )


def _arrow(line: Points, size: float) -> Points:
    """A triangle just beyond the middle of a line, pointing forward."""
    place, ahead = point_along(line, 0.56)
    aside = ahead[::-1] * (1.0, -1.0)
    return place + size * np.stack([0.75 * ahead, -0.55 * (ahead + aside), -0.55 * (ahead - aside)])
