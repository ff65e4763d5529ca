"""The text around a house drawing: title, floor names, scale bars, legend and instruction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from babywalk.evaluation.figures.layout import MARGIN, TEXT_LINE, WIDTH, Page, View
from babywalk.evaluation.figures.marks import END, LINE, RIM, START, STEP_LINE, step_colour
from babywalk.evaluation.figures.style import INK, PAPER, SOFT, line_colour, text_colour

_SCALES = (50, 20, 10, 5, 2, 1)  # metres
_SCALE_BAR = 1.4  # inches, at most
_STEP_WIDTH, _STEPS_LEFT = 0.2, 0.72  # inches, of the row of Baby-Step colours
_SAMPLE = 0.36  # inches, the length of a line in the legend


def draw_title(figure: Figure, page: Page, title: str) -> None:
    """The title at the top left."""
    _write(figure, MARGIN, page.title, title, size=11, weight="bold")


def draw_floor_names(figure: Figure, page: Page) -> None:
    """A name above every floor; none if a single floor is the whole picture."""
    if len(page.whole.boxes) == 1 and not page.close_up:
        return
    for view in page.views:
        for floor, (left, bottom, _, height) in view.boxes.items():
            _write(
                figure, left, bottom + height + 0.17, _floor_name(page, view, floor), size=7.5, colour=SOFT
            )


def draw_scale(figure: Figure, page: Page) -> None:
    """A scale bar of a round number of metres for every view, from the left."""
    left, height, tick = MARGIN, page.scale_bar - 0.1, 0.035
    for view in page.views:
        metres = next((size for size in _SCALES if size * view.scale <= _SCALE_BAR), _SCALES[-1])
        end = left + metres * view.scale
        xs = [left, left, left, end, end, end]
        ys = [height + tick, height - tick, height, height, height - tick, height + tick]
        figure.add_artist(Line2D(xs, ys, color=SOFT, linewidth=1.2, transform=figure.dpi_scale_trans))
        text = f"{metres} m" + " in the close-up" * (view is page.close_up)
        _write(figure, end + 0.08, height + 0.055, text, size=7.5, colour=SOFT)
        left = end + 0.7


def draw_legend(figure: Figure, page: Page, labels: Sequence[str], stepped: Sequence[bool]) -> None:
    """The label of every line and the markers of its ends; `stepped` tells which lines have Baby-Steps."""
    if not labels:
        return
    for number, (label, (x, y)) in enumerate(zip(labels, page.legend, strict=False)):
        colour = line_colour(number)
        layers = ((RIM, colour), (STEP_LINE, PAPER)) if stepped[number] else ((LINE, colour),)
        for width, shade in layers:
            _legend_line(figure, [x, x + _SAMPLE], y, color=shade, linewidth=width, solid_capstyle="round")
        _legend_line(figure, [x + 0.55 * _SAMPLE], y, marker=">", markersize=5, color=colour)
        _write(figure, x + _SAMPLE + 0.09, y + 0.055, label, size=7.5)
    x, y = page.legend[-1]
    _legend_line(figure, [x + 0.1], y, **START)
    _write(figure, x + 0.24, y + 0.055, "start", size=7.5)
    _legend_line(figure, [x + 0.75], y, **END, markerfacecolor=SOFT)
    _write(figure, x + 0.88, y + 0.055, "end", size=7.5)


def draw_steps(figure: Figure, page: Page, count: int) -> None:
    """The colours of Baby-Steps, numbered from 1."""
    if not count:
        return
    _write(figure, MARGIN, page.steps - 0.03, "Baby-Steps", size=7.5)
    width = min(_STEP_WIDTH, (WIDTH - 2 * MARGIN - _STEPS_LEFT) / count)
    for step in range(count):
        left, colour = MARGIN + _STEPS_LEFT + step * width, step_colour(step)
        box = Rectangle((left, page.steps - 0.18), width, 0.17, facecolor=colour, edgecolor=PAPER)
        box.set_transform(figure.dpi_scale_trans)
        figure.add_artist(box)
        _write(
            figure,
            left + width / 2,
            page.steps - 0.045,
            str(step + 1),
            size=6.5,
            colour=text_colour(colour),
            align="center",
        )


def draw_instruction(figure: Figure, page: Page, lines: Sequence[str]) -> None:
    """The instruction at the bottom, line by line."""
    for number, line in enumerate(lines):
        _write(figure, MARGIN, page.instruction - number * TEXT_LINE, line, size=8.5)


def _floor_name(page: Page, view: View, floor: int) -> str:
    close_up, single = view is page.close_up, len(page.whole.boxes) == 1
    if single:
        return "Close-up" if close_up else "The whole house"
    if close_up:
        return f"Floor {floor + 1}, close-up"
    return "Floor 1, the lowest" if floor == 0 else f"Floor {floor + 1}"


def _legend_line(figure: Figure, xs: list[float], y: float, **style: Any) -> None:
    figure.add_artist(Line2D(xs, [y] * len(xs), transform=figure.dpi_scale_trans, **style))


def _write(
    figure: Figure,
    x: float,
    top: float,
    text: str,
    *,
    size: float,
    colour: str = INK,
    weight: str = "normal",
    align: Literal["left", "center"] = "left",
) -> None:
    """One line of text, its top at `top`; dollar signs are not parsed as mathematics."""
    figure.add_artist(
        Text(
            x,
            top,
            text,
            fontsize=size,
            color=colour,
            fontweight=weight,
            ha=align,
            va="top",
            parse_math=False,
            transform=figure.dpi_scale_trans,
        )
    )
