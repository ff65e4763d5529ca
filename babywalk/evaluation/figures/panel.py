"""One floor on the page, and what room is left on it for text."""

from __future__ import annotations

from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from babywalk.evaluation.figures.lanes import Points
from babywalk.evaluation.figures.page import WIDTH, Page, View
from babywalk.evaluation.figures.scene import HouseDrawing

_GROUND = "#f9f9f7"


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """The axes of one floor in one view, in metres."""

    axes: Axes
    scene: HouseDrawing
    floor: int
    view: View
    _taken: list[tuple[float, float, float, float]] = field(default_factory=list)

    def take(self, centre: Points, width: float, height: float) -> bool:
        """Claim a box, its sides in points, for text; False if a part of it is taken already."""
        point = self.view.point
        box = (float(centre[0]), float(centre[1]), width * point, height * point)
        free = not any(
            abs(box[0] - other[0]) < (box[2] + other[2]) / 2
            and abs(box[1] - other[1]) < (box[3] + other[3]) / 2
            for other in self._taken
        )
        if free:
            self._taken.append(box)
        return free


def add_panel(figure: Figure, page: Page, view: View, floor: int, scene: HouseDrawing) -> Panel:
    """An empty panel at its place."""
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
