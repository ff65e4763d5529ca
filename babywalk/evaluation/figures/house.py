"""A house from above, floor by floor, and the walks through it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from babywalk.buildings.houses import Houses
from babywalk.evaluation.figures.canvas import empty_figure
from babywalk.evaluation.figures.page import WIDTH, lay_out
from babywalk.evaluation.figures.scene import (
    Trajectory,
    build_scene,
    build_trails,
    check_trajectories,
    walked_frame,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Trajectory", "draw_house"]

_LINE = 122  # letters of the instruction
_LABEL = 90  # letters of a label; a longer one is cut


def draw_house(
    houses: Houses,
    scan: str,
    trajectories: Sequence[Trajectory] = (),
    *,
    plan: Path | None = None,
    title: str = "",
    instruction: str = "",
) -> Figure:
    """A house from above and trajectories in it; `plan` is a file of rooms and furniture to draw behind.

    Numbers along a trajectory count its moves. Those that share an edge lie side by side. Baby-Steps
    have the same colours in all trajectories that know theirs.
    """
    check_trajectories(trajectories, houses, scan)
    scene = build_scene(houses, scan, plan)
    labels = [_label(one, houses) for one in trajectories]
    steps = max((len(one.steps) for one in trajectories), default=0)
    lines = textwrap.wrap(" ".join(instruction.split()), _LINE)
    page = lay_out(
        scene.frame,
        len(scene.floors),
        *walked_frame(trajectories, scene),
        labels=labels,
        steps=steps > 0,
        lines=len(lines),
    )
    figure = empty_figure(WIDTH, page.height)
    # Only now is matplotlib known to be there.
    from babywalk.evaluation.figures import captions, ground, marks, panel

    tint = ground.tints(scene.floors)
    for view in page.views:
        trails = build_trails(trajectories, scene, view)
        for floor in view.boxes:
            place = panel.add_panel(figure, page, view, floor, scene)
            ground.paint_plan(place, tint)
            ground.paint_graph(place)
            marks.paint_trails(place, trails)
            if page.close_up and view is page.whole and floor in page.close_up.boxes:
                marks.paint_frame(place, page.close_up.frame)
    captions.write_title(figure, page, title or f"House {scan}")
    captions.write_floor_names(figure, page)
    captions.draw_scale(figure, page)
    captions.draw_legend(figure, page, labels, [bool(one.steps) for one in trajectories])
    captions.draw_steps(figure, page, steps)
    captions.write_instruction(figure, page, lines)
    return figure


def _label(one: Trajectory, houses: Houses) -> str:
    """A trajectory's label and how far it goes."""
    metres, moves = houses.length(np.array(one.path)), len(one.path) - 1
    far = f", {metres:.1f} m" if np.isfinite(metres) else ""
    name = one.label if len(one.label) <= _LABEL else one.label[: _LABEL - 3] + "..."
    return f"{name}: {moves} move{'s' * (moves != 1)}{far}"
