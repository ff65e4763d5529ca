"""Trajectories on paper: lines with arrowheads, numbers along them, and their ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.patches import Rectangle

from babywalk.evaluation.figures.canvas import INK, PAPER, SOFT, line_colour, text_colour
from babywalk.evaluation.figures.lanes import Points, along, length
from babywalk.evaluation.figures.page import Frame
from babywalk.evaluation.figures.panel import Panel
from babywalk.evaluation.figures.scene import NO_STEP, Stretch, Trail

# Sizes are in points. A line with Baby-Steps has its own colour as a rim, and inside, on white, theirs.
LINE, RIM, _INSIDE, STEP_LINE = 2.4, 5.0, 3.6, 2.6
_HALO = 1.2
_ARROW, _ARROW_ROOM = 4.6, 13.0
_TEXT, _LETTER = 5.5, 0.66  # and the width of a letter in heights
_MOST_NUMBERS = 4  # at one viewpoint
_STAR = 10.0
_SAME_WAY = 30.0  # trajectories that leave a floor within this distance share a text
START: dict[str, Any] = {
    "marker": "o",
    "markersize": 10.0,
    "markerfacecolor": PAPER,
    "markeredgecolor": INK,
    "markeredgewidth": 1.8,
}
END: dict[str, Any] = {"marker": "*", "markersize": _STAR, "markeredgecolor": PAPER, "markeredgewidth": 0.7}
# Lines differ in the shape of their numbers, not in colour alone.
_SHAPES = ("round,pad=0.25,rounding_size=0.6", "square,pad=0.22", "ellipse,pad=0.12")
# Light and dark in turn, so that neighbouring Baby-Steps differ for every kind of colour vision.
_STEPS = ("#f2c500", "#4a2377", "#5cc9a7", "#a3195b", "#a6d854", "#274690", "#f58f6c", "#1b6b4f")
_AROUND = ((0, -9), (0, 9), (22, 0), (-22, 0), (22, -9), (-22, 9))  # where a text may stand beside a place


def step_colour(step: int) -> str:
    """The colour of a Baby-Step, the same in every trajectory; they repeat after eight."""
    return SOFT if step == NO_STEP else _STEPS[step % len(_STEPS)]


def paint_trails(panel: Panel, trails: Sequence[Trail]) -> None:
    """What there is of trajectories on one floor; in a view without details, nothing but lines and ends."""
    for number, trail in enumerate(trails):
        _paint_line(panel, trail.stretches.get(panel.floor, []), number)
    _paint_ends(panel, trails)
    if not panel.view.detailed:
        return
    for number, trail in enumerate(trails):
        _paint_numbers(panel, trail, number)
    _paint_ways(panel, [stretch for trail in trails for stretch in trail.stretches.get(panel.floor, [])])


def paint_frame(panel: Panel, frame: Frame) -> None:
    """The outline of what a close-up shows."""
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


def _paint_line(panel: Panel, stretches: Sequence[Stretch], number: int) -> None:
    colour, height, detailed = line_colour(number), 3.0 + 0.01 * number, panel.view.detailed
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
                zorder=height + 0.001 * level,
            )
        )
    if detailed:
        point = panel.view.point
        heads = [_arrow(line, _ARROW * point) for line in lines if length(line) > _ARROW_ROOM * point]
        panel.axes.add_collection(
            PolyCollection(heads, facecolors=colour, edgecolors=PAPER, linewidths=0.5, zorder=height + 0.005)
        )


def _paint_ends(panel: Panel, trails: Sequence[Trail]) -> None:
    """A ring at every start, a star in its colour at every end."""
    scene, size = panel.scene, 1.0 if panel.view.detailed else 0.7
    for start in dict.fromkeys(trail.start for trail in trails if scene.floor_of[trail.start] == panel.floor):
        (ring,) = panel.axes.plot(*scene.points[start], **START, zorder=4.4)
        ring.set_markersize(START["markersize"] * size)
        panel.take(scene.points[start], START["markersize"], START["markersize"])
    ending: defaultdict[int, list[int]] = defaultdict(list)
    for number, trail in enumerate(trails):
        if scene.floor_of[trail.end] == panel.floor:
            ending[trail.end].append(number)
    for stop, numbers in ending.items():
        centre = scene.points[stop] if len(numbers) > 1 else trails[numbers[0]].last
        ends = np.array([trails[number].last for number in numbers])
        for slot, place in zip(*_row(centre, ends, 0.75 * _STAR * size * panel.view.point), strict=True):
            colour = line_colour(numbers[slot])
            (star,) = panel.axes.plot(*place, **END, markerfacecolor=colour, zorder=4.5)
            star.set_markersize(_STAR * size)
            panel.take(place, 0.8 * _STAR, 0.8 * _STAR)


def _row(centre: Points, ends: Points, apart: float) -> tuple[list[int], Points]:
    """Places in a row about a viewpoint, one for each line that ends there, and which line each is for.

    The row lies across the lines, in their order, so that each meets its own place.
    """
    axis = int(np.argmax(np.ptp(ends, axis=0)))
    order = np.argsort(ends[:, axis], kind="stable")
    places = np.repeat(centre[None], len(ends), axis=0)
    places[:, axis] += (np.arange(len(ends)) - (len(ends) - 1) / 2) * apart
    return order.tolist(), places


def _paint_numbers(panel: Panel, trail: Trail, number: int) -> None:
    """After how many moves a viewpoint is reached; left out where there is no room."""
    colour = line_colour(number)
    for viewpoint, found in trail.numbers.items():
        if panel.scene.floor_of[viewpoint] != panel.floor:
            continue
        text = said_briefly(found.moves)
        size = (_LETTER * len(text) + 0.8) * _TEXT, 1.5 * _TEXT
        place = next((place for place in found.places if panel.take(place, *size)), None)
        if place is not None:
            _paint_text(
                panel, place, text, _SHAPES[number % len(_SHAPES)], text_colour(colour), colour, PAPER
            )


def said_briefly(moves: Sequence[int]) -> str:
    """Numbers of moves; of many the first and the last, since who goes to and fro would hide the house."""
    shown = list(map(str, moves))
    return ",".join(shown) if len(shown) <= _MOST_NUMBERS else f"{shown[0]},{shown[1]}…{shown[-1]}"


def _paint_ways(panel: Panel, stretches: Sequence[Stretch]) -> None:
    """Where trajectories leave the floor, to which other; where they arrive, from which."""
    said: list[tuple[str, Points]] = []
    for stretch in stretches:
        if stretch.towards is not None:
            text, place = f"to floor {stretch.towards + 1}", stretch.line[-1]
        elif stretch.since is not None:
            text, place = f"from floor {stretch.since + 1}", stretch.line[0]
        else:
            continue
        near = _SAME_WAY * panel.view.point
        if not any(text == other and np.hypot(*(place - there)) < near for other, there in said):
            said.append((text, place))
            _paint_beside(panel, place, text)


def _paint_beside(panel: Panel, place: Points, text: str) -> None:
    for aside in _AROUND:
        beside = place + np.array(aside) * panel.view.point
        if panel.take(beside, (_LETTER * len(text) + 0.8) * _TEXT, 1.7 * _TEXT):
            _paint_text(panel, beside, text, "round,pad=0.2", INK, PAPER, SOFT)
            return


def _paint_text(panel: Panel, place: Points, text: str, shape: str, ink: str, ground: str, rim: str) -> None:
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
        bbox={"boxstyle": shape, "facecolor": ground, "edgecolor": rim, "linewidth": 0.6},
    )


def _arrow(line: Points, size: float) -> Points:
    """A triangle a little beyond the middle of a line, pointing onward."""
    place, ahead = along(line, 0.56)
    aside = ahead[::-1] * (1.0, -1.0)
    return place + size * np.stack([0.75 * ahead, -0.55 * (ahead + aside), -0.55 * (ahead - aside)])
