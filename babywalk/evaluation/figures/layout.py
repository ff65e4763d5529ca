"""The page layout of a house drawing, in inches from the lower left corner."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

WIDTH, MARGIN = 8.0, 0.18
TEXT_LINE = 0.165  # line height of the instruction
_LEGEND_ROW = 0.2
# Widths in the legend: a letter, the space beside a label, the marker key.
_LETTER, _LABEL_MARGIN, _KEY = 0.06, 0.62, 1.15
_MAX_SCALE = 0.9  # inches per metre
_INNER_WIDTH = WIDTH - 2 * MARGIN
# Maximal height of all floors of a view together.
_ALONE_HEIGHT, _ABOVE_HEIGHT, _CLOSE_UP_HEIGHT, _BESIDE_HEIGHT = 6.4, 3.2, 4.4, 5.2
_HOUSE_WIDTH = 0.36 * _INNER_WIDTH  # of the whole house where a close-up stands beside it
# A close-up is drawn if it is at least so much larger, and covers at most this share of the house.
_MIN_GAIN, _MAX_SHARE = 1.35, 0.4
_BESIDE = 0.85  # a close-up stands beside the house if its scale there is at least this share of that below
_TITLE, _FLOOR_NAME, _GAP, _SCALE_BAR, _BELOW_LEGEND, _STEPS = 0.34, 0.22, 0.1, 0.3, 0.1, 0.28


@dataclass(frozen=True, slots=True)
class Frame:
    """A rectangle of the ground plane, in metres."""

    x0: float
    y0: float
    x1: float
    y1: float

    def within(self, other: Frame) -> Frame:
        """The intersection with another frame; of size zero if they do not overlap."""
        x0, y0 = max(self.x0, other.x0), max(self.y0, other.y0)
        return Frame(x0, y0, max(x0, min(self.x1, other.x1)), max(y0, min(self.y1, other.y1)))

    def widened(self, width: float, inside: Frame) -> Frame:
        """At least `width` wide, about the same centre, shifted to stay inside another frame."""
        width = min(max(width, self.size[0]), inside.size[0])
        left = (self.x0 + self.x1 - width) / 2
        x0 = max(inside.x0, min(left, inside.x1 - width))
        return Frame(x0, self.y0, x0 + width, self.y1)

    @property
    def size(self) -> tuple[float, float]:
        """Its extent along x and y."""
        return self.x1 - self.x0, self.y1 - self.y0

    @property
    def area(self) -> float:
        """Square metres."""
        return self.size[0] * self.size[1]


@dataclass(frozen=True, slots=True)
class View:
    """Floors of a house in the same frame at the same scale."""

    frame: Frame
    scale: float  # inches per metre
    boxes: dict[int, tuple[float, float, float, float]]  # by floor: left, bottom, width, height
    detailed: bool  # False for the whole house where there is a close-up

    @property
    def point(self) -> float:
        """The size of a typographic point in metres."""
        return 1 / (72 * self.scale)


@dataclass(frozen=True, slots=True)
class Page:
    """The layout of one picture: the whole house, an optional close-up, and the tops of the parts below."""

    height: float
    whole: View
    close_up: View | None
    title: float
    scale_bar: float
    legend: tuple[tuple[float, float], ...]  # left end and middle of each label, and of the marker key
    steps: float
    instruction: float

    @property
    def views(self) -> tuple[View, ...]:
        """The whole house first."""
        return (self.whole, self.close_up) if self.close_up else (self.whole,)


@dataclass(frozen=True, slots=True)
class _Grid:
    """An arrangement of floors in rows, the lowest floor first."""

    frame: Frame
    floors: Sequence[int]
    columns: int
    scale: float
    name_height: float  # inches above each floor for its name
    width: float  # available inches; the grid is centred in them

    @property
    def rows(self) -> int:
        return math.ceil(len(self.floors) / self.columns)

    @property
    def height(self) -> float:
        return self.rows * (self.frame.size[1] * self.scale + self.name_height + _GAP)

    def filled(self, house: Frame) -> _Grid:
        """The same with a frame widened to the available width, as far as the house extends."""
        across = (self.width - (self.columns - 1) * _GAP) / self.columns
        return replace(self, frame=self.frame.widened(across / self.scale, house))

    def view(self, left: float, top: float, *, detailed: bool) -> View:
        width, height = (side * self.scale for side in self.frame.size)
        spare = self.width - self.columns * width - (self.columns - 1) * _GAP
        boxes = {}
        for number, floor in enumerate(self.floors):
            row, column = divmod(number, self.columns)
            box_left = left + spare / 2 + column * (width + _GAP)
            bottom = top - (row + 1) * (height + self.name_height) - row * _GAP
            boxes[floor] = (box_left, bottom, width, height)
        return View(self.frame, self.scale, boxes, detailed)


def lay_out(
    house: Frame,
    floors: int,
    visited: Frame | None,
    visited_floors: Sequence[int],
    *,
    labels: Sequence[str],
    steps: bool,
    lines: int,
) -> Page:
    """A page that shows all floors, and a close-up of the visited area where that is clearly larger.

    `labels` are those of the legend, `steps` asks for a row of Baby-Step colours, `lines` is the number of
    text lines of the instruction.
    """
    views = _views(house, floors, visited, visited_floors)
    instruction = MARGIN + lines * TEXT_LINE
    step_row = instruction + _STEPS * steps
    legend = _legend_cells(labels)
    legend_top = step_row + _BELOW_LEGEND + _LEGEND_ROW * (1 + legend[-1][1] if labels else 0)
    scale_bar = legend_top + _SCALE_BAR
    top = scale_bar + max(below + grid.height for grid, _, below in views)
    whole, *close_up = (
        grid.view(left, top - below, detailed=grid is views[-1][0]) for grid, left, below in views
    )
    return Page(
        height=top + _TITLE + MARGIN,
        whole=whole,
        close_up=close_up[0] if close_up else None,
        title=top + _TITLE,
        scale_bar=scale_bar,
        legend=tuple((left, legend_top - (row + 0.5) * _LEGEND_ROW) for left, row in legend),
        steps=step_row,
        instruction=instruction,
    )


def _legend_cells(labels: Sequence[str]) -> list[tuple[float, int]]:
    """The left end and the row, from 0, of each label and of the marker key after them."""
    cells, left, row = [], MARGIN, 0
    for size in (*(len(label) * _LETTER + _LABEL_MARGIN for label in labels), _KEY):
        if left > MARGIN and left + size > WIDTH - MARGIN:
            left, row = MARGIN, row + 1
        cells.append((left, row))
        left += size
    return cells


def _views(
    house: Frame, floors: int, visited: Frame | None, visited_floors: Sequence[int]
) -> list[tuple[_Grid, float, float]]:
    """The whole house, and a close-up beside or below it; each with left end and distance from the top."""

    def whole(width: float, max_height: float) -> _Grid:
        return _largest(house, range(floors), width, max_height, named=True)

    alone = _largest(house, range(floors), _INNER_WIDTH, _ALONE_HEIGHT, named=floors > 1)
    if visited is None or visited.area > _MAX_SHARE * house.area:
        return [(alone, MARGIN, 0.0)]
    beside = _largest(visited, visited_floors, _INNER_WIDTH - _HOUSE_WIDTH, _BESIDE_HEIGHT, named=True)
    below = _largest(visited, visited_floors, _INNER_WIDTH, _CLOSE_UP_HEIGHT, named=True)
    if max(beside.scale, below.scale) < _MIN_GAIN * alone.scale:
        return [(alone, MARGIN, 0.0)]
    if beside.scale >= _BESIDE * below.scale:
        return [
            (whole(_HOUSE_WIDTH - 2 * _GAP, _BESIDE_HEIGHT), MARGIN, 0.0),
            (beside.filled(house), MARGIN + _HOUSE_WIDTH, 0.0),
        ]
    above = whole(_INNER_WIDTH, _ABOVE_HEIGHT)
    return [(above, MARGIN, 0.0), (below.filled(house), MARGIN, above.height)]


def _largest(frame: Frame, floors: Sequence[int], width: float, max_height: float, *, named: bool) -> _Grid:
    """The arrangement with the largest scale; of equal ones that with the fewest rows."""
    name_height = _FLOOR_NAME if named else 0.0

    def scale(columns: int) -> float:
        rows = math.ceil(len(floors) / columns)
        across = (width - (columns - 1) * _GAP) / (columns * frame.size[0])
        return min(across, (max_height - rows * (name_height + _GAP)) / (rows * frame.size[1]), _MAX_SCALE)

    columns = max(range(len(floors), 0, -1), key=scale)
    return _Grid(frame, floors, columns, scale(columns), name_height, width)
