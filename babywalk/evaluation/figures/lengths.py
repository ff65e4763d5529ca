"""Figure 3 of the paper: how long instructions and paths are in each task."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from babywalk.common.errors import ConfigError
from babywalk.episodes.statistics import Lengths
from babywalk.evaluation.figures.canvas import empty_figure, line_colour, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES = ("-", "--", "-.", ":")  # lines differ in more than colour
_BINS = 60  # at most
_SHOWN = 99.8  # percent of the longest task; the rest is a tail of a few


def draw_lengths(tasks: Mapping[str, Lengths]) -> Figure:
    """The distributions of words per instruction and of viewpoints per path, a line for each task."""
    if not any(len(found.words) for found in tasks.values()):
        raise ConfigError(
            "There is no episode whose lengths could be drawn. Give at least one task with some."
        )
    figure = empty_figure(8.0, 3.3)
    left, right = figure.subplots(1, 2)
    _draw(left, {name: found.words for name, found in tasks.items()}, "Words of an instruction", "Density")
    _draw(right, {name: found.viewpoints for name, found in tasks.items()}, "Viewpoints of a path")
    figure.subplots_adjust(left=0.09, right=0.985, bottom=0.15, top=0.96, wspace=0.16)
    return figure


def _draw(axes: Axes, tasks: Mapping[str, NDArray[np.int64]], what: str, beside: str = "") -> None:
    edges = _edges(tasks.values())
    for number, (name, values) in enumerate(tasks.items()):
        if not len(values):
            continue
        colour = line_colour(number)
        density = np.histogram(values, bins=edges)[0] / (len(values) * np.diff(edges))
        label = f"{name.upper()}, mean {values.mean():.1f}"
        axes.stairs(density, edges, fill=True, color=colour, alpha=0.10)
        axes.stairs(
            density, edges, color=colour, linewidth=1.6, linestyle=_STYLES[number % len(_STYLES)], label=label
        )
    axes.set_xlim(edges[0] - (edges[1] - edges[0]), edges[-1] + (edges[1] - edges[0]))
    axes.locator_params(axis="x", integer=True)
    axes.set_ylim(bottom=0)
    plain_axes(axes, what, beside)


def _edges(samples: Collection[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Bins around whole numbers, as narrow as there is room for, up to where the tails end."""
    filled = [sample for sample in samples if len(sample)]
    low = min(int(sample.min()) for sample in filled)
    high = max(int(np.percentile(sample, _SHOWN, method="higher")) for sample in filled) + 1
    width = -(-(high - low) // _BINS)
    return np.arange(low, high + width, width, dtype=np.float64) - 0.5
