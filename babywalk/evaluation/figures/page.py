"""Where everything lies on the page, in inches from its lower left corner."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

WIDTH, MARGIN = 8.0, 0.18
TEXT_LINE = 0.165  # from one line of the instruction to the next
_LEGEND_ROW = 0.2
_LETTER, _BESIDE_LABEL, _KEY = 0.06, 0.62, 1.15  # a letter of the legend, what stands beside a label, the key
_CLOSEST = 0.9  # inches that a metre is drawn with, at most
_ROOM = WIDTH - 2 * MARGIN
_TALLEST, _ABOVE_CLOSE_UP, _CLOSE_UP, _SIDE_BY_SIDE = 6.4, 3.2, 4.4, 5.2  # all floors of a view together
_LEFT = 0.36 * _ROOM  # the house where a close-up stands beside it
# A close-up is worth its place if it shows things so much larger, and so small a share of the house.
_GAIN, _SHARE = 1.35, 0.4
_BESIDE = 0.85  # a close-up stands beside the house unless it would be so much smaller than beneath it
_TITLE, _NAME, _GAP, _SCALE_BAR, _BENEATH_LEGEND, _STEPS = 0.34, 0.22, 0.1, 0.3, 0.1, 0.28


@dataclass(frozen=True, slots=True)
class Frame:
    """A part of the plane, in metres."""

    x0: float
    y0: float
    x1: float
    y1: float

    def within(self, other: Frame) -> Frame:
        """What of it lies inside another; of no size where nothing does."""
        x0, y0 = max(self.x0, other.x0), max(self.y0, other.y0)
        return Frame(x0, y0, max(x0, min(self.x1, other.x1)), max(y0, min(self.y1, other.y1)))

    def widened(self, width: float, inside: Frame) -> Frame:
        """As wide as given, if that is more; about the same middle, or moved to stay inside another."""
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
    detailed: bool  # False where a close-up shows the trajectories better

    @property
    def point(self) -> float:
        """Metres that a typographic point covers."""
        return 1 / (72 * self.scale)


@dataclass(frozen=True, slots=True)
class Page:
    """The layout of one picture: the whole house, perhaps a close-up, and the tops of the parts beneath."""

    height: float
    whole: View
    close_up: View | None
    title: float
    scale_bar: float
    legend: tuple[tuple[float, float], ...]  # left and middle of each label's place, and one more for the key
    steps: float
    instruction: float

    @property
    def views(self) -> tuple[View, ...]:
        """From the top of the page down."""
        return (self.whole, self.close_up) if self.close_up else (self.whole,)


@dataclass(frozen=True, slots=True)
class _Grid:
    """An arrangement of floors in rows, the lowest floor first."""

    frame: Frame
    floors: Sequence[int]
    columns: int
    scale: float
    name: float  # inches above each floor for its name
    width: float  # of the space in the middle of which it stands

    @property
    def rows(self) -> int:
        return math.ceil(len(self.floors) / self.columns)

    @property
    def height(self) -> float:
        return self.rows * (self.frame.size[1] * self.scale + self.name + _GAP)

    def filled(self, house: Frame) -> _Grid:
        """The same with a frame that shows more of a house on either side, where there is space for it."""
        across = (self.width - (self.columns - 1) * _GAP) / self.columns
        return replace(self, frame=self.frame.widened(across / self.scale, house))

    def view(self, left: float, top: float, *, detailed: bool) -> View:
        width, height = (side * self.scale for side in self.frame.size)
        spare = self.width - self.columns * width - (self.columns - 1) * _GAP
        boxes = {}
        for slot, floor in enumerate(self.floors):
            row, column = divmod(slot, self.columns)
            box_left = left + spare / 2 + column * (width + _GAP)
            boxes[floor] = (box_left, top - (row + 1) * (height + self.name) - row * _GAP, width, height)
        return View(self.frame, self.scale, boxes, detailed)


def lay_out(
    house: Frame,
    floors: int,
    walked: Frame | None,
    walked_floors: Sequence[int],
    *,
    labels: Sequence[str],
    steps: bool,
    lines: int,
) -> Page:
    """A page that shows all floors, and what is walked on some of them larger if that makes a difference."""
    views = _views(house, floors, walked, walked_floors)
    instruction = MARGIN + lines * TEXT_LINE
    step_row = instruction + _STEPS * steps
    legend = _flow(labels)
    legend_top = step_row + _BENEATH_LEGEND + _LEGEND_ROW * (1 + legend[-1][1] if labels else 0)
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


def _flow(labels: Sequence[str]) -> list[tuple[float, int]]:
    """The left end and the row, from 0, of each label and of the key to the marks after them."""
    cells, left, row = [], MARGIN, 0
    for size in (*(len(label) * _LETTER + _BESIDE_LABEL for label in labels), _KEY):
        if left > MARGIN and left + size > WIDTH - MARGIN:
            left, row = MARGIN, row + 1
        cells.append((left, row))
        left += size
    return cells


def _views(
    house: Frame, floors: int, walked: Frame | None, walked_floors: Sequence[int]
) -> list[tuple[_Grid, float, float]]:
    """The whole house, and beside or beneath it a close-up; each with its left end and how far down it is."""

    def whole(width: float, tallest: float) -> _Grid:
        return _largest(house, range(floors), width, tallest, named=True)

    alone = _largest(house, range(floors), _ROOM, _TALLEST, named=floors > 1)
    if walked is None or walked.area > _SHARE * house.area:
        return [(alone, MARGIN, 0.0)]
    beside = _largest(walked, walked_floors, _ROOM - _LEFT, _SIDE_BY_SIDE, named=True)
    beneath = _largest(walked, walked_floors, _ROOM, _CLOSE_UP, named=True)
    if max(beside.scale, beneath.scale) < _GAIN * alone.scale:
        return [(alone, MARGIN, 0.0)]
    if beside.scale >= _BESIDE * beneath.scale:
        return [
            (whole(_LEFT - 2 * _GAP, _SIDE_BY_SIDE), MARGIN, 0.0),
            (beside.filled(house), MARGIN + _LEFT, 0.0),
        ]
    above = whole(_ROOM, _ABOVE_CLOSE_UP)
    return [(above, MARGIN, 0.0), (beneath.filled(house), MARGIN, above.height)]


def _largest(frame: Frame, floors: Sequence[int], width: float, tallest: float, *, named: bool) -> _Grid:
    """The arrangement that shows floors largest; in as few rows as that allows."""
    name = _NAME if named else 0.0

    def scale(columns: int) -> float:
        rows = math.ceil(len(floors) / columns)
        across = (width - (columns - 1) * _GAP) / (columns * frame.size[0])
        return min(across, (tallest - rows * (name + _GAP)) / (rows * frame.size[1]), _CLOSEST)

    columns = max(range(len(floors), 0, -1), key=scale)
    return _Grid(frame, floors, columns, scale(columns), name, width)
