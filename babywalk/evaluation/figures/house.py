"""A house drawn from above, floor by floor, with trajectories in it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from babywalk.buildings.houses import Houses
from babywalk.evaluation.figures.layout import WIDTH, lay_out
from babywalk.evaluation.figures.scene import Trajectory, build_scene, check_trajectories
from babywalk.evaluation.figures.style import empty_figure
from babywalk.evaluation.figures.trails import build_trails

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Trajectory", "draw_house"]

_LINE = 122  # characters per line of the instruction
_MAX_LABEL = 90  # characters


def draw_house(
    houses: Houses,
    scan: str,
    trajectories: Sequence[Trajectory] = (),
    *,
    plan: Path | None = None,
    title: str = "",
    instruction: str = "",
) -> Figure:
    """A house from above with trajectories; `plan` is a floor plan file to draw behind them.

    Numbers along a trajectory count its moves. Trajectories that share an edge are drawn side by side. A
    Baby-Step has the same colour in all trajectories whose Baby-Steps are known.
    """
    check_trajectories(trajectories, houses, scan)
    scene = build_scene(houses, scan, plan)
    labels = [_label(one, houses) for one in trajectories]
    steps = max((len(one.steps) for one in trajectories), default=0)
    lines = textwrap.wrap(" ".join(instruction.split()), _LINE)
    page = lay_out(
        scene.frame,
        len(scene.floors),
        *scene.visited(trajectories),
        labels=labels,
        steps=steps > 0,
        lines=len(lines),
    )
    figure = empty_figure(WIDTH, page.height)
    # These import matplotlib; `empty_figure` has checked that it is installed.
    from babywalk.evaluation.figures import captions, marks, panel

    colours = panel.room_colours(scene.floors)
    for view in page.views:
        trails = build_trails(trajectories, scene, view)
        for floor in view.boxes:
            part = panel.add_panel(figure, page, view, floor, scene)
            panel.draw_plan(part, colours)
            panel.draw_graph(part)
            marks.draw_trails(part, trails)
            if page.close_up and view is page.whole and floor in page.close_up.boxes:
                marks.draw_frame(part, page.close_up.frame)
    captions.draw_title(figure, page, title or f"House {scan}")
    captions.draw_floor_names(figure, page)
    captions.draw_scale(figure, page)
    captions.draw_legend(figure, page, labels, [bool(one.steps) for one in trajectories])
    captions.draw_steps(figure, page, steps)
    captions.draw_instruction(figure, page, lines)
    return figure


def _label(one: Trajectory, houses: Houses) -> str:
    """A trajectory's label with its number of moves and its length."""
    metres, moves = houses.length(np.array(one.path)), len(one.path) - 1
    length = f", {metres:.1f} m" if np.isfinite(metres) else ""
    name = one.label if len(one.label) <= _MAX_LABEL else one.label[: _MAX_LABEL - 3] + "..."
    return f"{name}: {moves} move{'s' * (moves != 1)}{length}"
