"""Charts: lengths of instructions and paths, learning curves, diagnosis."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from babywalk.common.errors import ConfigError, DataError
from babywalk.episodes.statistics import Lengths
from babywalk.evaluation.curves import Curves
from babywalk.evaluation.diagnosis.report import Diagnosis
from babywalk.evaluation.evaluate import Measured
from babywalk.evaluation.figures.style import FAINT, INK, SOFT, empty_figure, line_colour, style_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Lines and points differ in more than colour.
_LINE_STYLES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s")
_MAX_BINS = 60
_SHOWN_PERCENTILE = 99.8  # of each task; the longest few are cut off
_PANEL_HEIGHT = 1.9  # inches, of learning curves
_METRES = ("val PL", "val NE")
_STAGE_NAME_WIDTH = 0.06  # as a share of the x axis
_LENGTH_GROUPS = {
    "Baby-Steps": "Baby-Steps",
    "words": "Words",
    "metres of path": "Length of the reference path, m",
}


def draw_lengths(tasks: Mapping[str, Lengths]) -> Figure:
    """Figure 3 of the paper: distributions of words per instruction and viewpoints per path, by task."""
    if not any(len(lengths.words) for lengths in tasks.values()):
        raise ConfigError("There are no episodes to draw lengths of. Give at least one task with episodes.")
    figure = empty_figure(8.0, 3.3)
    left, right = figure.subplots(1, 2)
    words = {name: lengths.words for name, lengths in tasks.items()}
    viewpoints = {name: lengths.viewpoints for name, lengths in tasks.items()}
    _draw_histograms(left, words, "Words of an instruction", "Density")
    _draw_histograms(right, viewpoints, "Viewpoints of a path")
    figure.subplots_adjust(left=0.09, right=0.985, bottom=0.15, top=0.96, wspace=0.16)
    return figure


def draw_curves(runs: Sequence[Curves]) -> Figure:
    """Learning curves: a panel for each quantity, a line for each run, marks where stages begin."""
    names = list(dict.fromkeys(name for run in runs for name in run.series))
    if not names:
        raise DataError("These runs have not logged any measurement yet.")
    figure = empty_figure(8.0, _PANEL_HEIGHT * len(names) + 0.6)
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(panels, names, strict=True):
        first, last = name == names[0], name == names[-1]
        for number, run in enumerate(runs):
            _draw_series(axes, run, name, line_colour(number))
        _mark_stages(axes, runs, named=first)
        style_axes(axes, "Iterations" if last else "", _curve_label(name), legend=first and len(runs) > 1)
    figure.align_ylabels(panels)
    figure.tight_layout()
    return figure


def draw_lines(
    lines: Mapping[str, Mapping[str, float]], x_label: str, y_label: str, *, dashed: Collection[str] = ()
) -> Figure:
    """Lines over named points, in the order in which the points first appear; numbers in their own order."""
    names = list(dict.fromkeys(name for points in lines.values() for name in points))
    if all(name.isdecimal() for name in names):
        names.sort(key=int)
    figure = empty_figure(8.0, 3.8)
    axes = figure.subplots()
    for number, (label, points) in enumerate(lines.items()):
        axes.plot(
            [names.index(name) for name in points],
            list(points.values()),
            color=line_colour(number),
            linestyle="--" if label in dashed else "-",
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=4,
            linewidth=1.6,
            label=label,
        )
    axes.set_xticks(range(len(names)), names)
    axes.set_ylim(bottom=0)
    style_axes(axes, x_label, y_label)
    figure.tight_layout()
    return figure


def draw_diagnosis(diagnosis: Diagnosis) -> Figure:
    """Success by length, and the Baby-Steps at which walks fail where these are known."""
    groups, whole = diagnosis.groups, diagnosis.whole
    panels = {label: groups[name] for name, label in _LENGTH_GROUPS.items() if name in groups}
    count = len(panels) + (diagnosis.step_failures is not None)
    columns = 2 if count > 1 else 1
    rows = -(-count // columns)
    figure = empty_figure(4.2 * columns, 2.9 * rows)
    all_axes = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axes, (label, group) in zip(all_axes, panels.items(), strict=False):
        names = [part.name for part in group]
        series = {measure: [part.measures[measure] for part in group] for measure in whole.measures}
        _draw_intervals(axes, names, series, label, "Percent")
    if diagnosis.step_failures is not None:
        steps = diagnosis.step_failures.steps
        names, failed = [step.step for step in steps], {"failed": [step.failed for step in steps]}
        _draw_intervals(all_axes[len(panels)], names, failed, "Baby-Step", "Failed here, percent of attempts")
    for axes in all_axes[count:]:
        axes.set_axis_off()
    figure.suptitle(
        f"{diagnosis.task.upper()} {diagnosis.split}: {whole.episodes:,} instructions, 95 % intervals",
        fontsize=10,
        color=INK,
    )
    figure.tight_layout()
    return figure


def _draw_histograms(
    axes: Axes, tasks: Mapping[str, NDArray[np.int64]], x_label: str, y_label: str = ""
) -> None:
    edges = _bin_edges(tasks.values())
    for number, (name, values) in enumerate(tasks.items()):
        if not len(values):
            continue
        colour, style = line_colour(number), _LINE_STYLES[number % len(_LINE_STYLES)]
        density = np.histogram(values, bins=edges)[0] / (len(values) * np.diff(edges))
        label = f"{name.upper()}, mean {values.mean():.1f}"
        axes.stairs(density, edges, fill=True, color=colour, alpha=0.10)
        axes.stairs(density, edges, color=colour, linewidth=1.6, linestyle=style, label=label)
    axes.set_xlim(edges[0] - (edges[1] - edges[0]), edges[-1] + (edges[1] - edges[0]))
    axes.locator_params(axis="x", integer=True)
    axes.set_ylim(bottom=0)
    style_axes(axes, x_label, y_label)


def _bin_edges(samples: Collection[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Edges of equal bins around whole numbers, as narrow as `_MAX_BINS` allows."""
    filled = [sample for sample in samples if len(sample)]
    low = min(int(sample.min()) for sample in filled)
    high = max(int(np.percentile(sample, _SHOWN_PERCENTILE, method="higher")) for sample in filled) + 1
    width = -(-(high - low) // _MAX_BINS)
    return np.arange(low, high + width, width, dtype=np.float64) - 0.5


def _draw_series(axes: Axes, run: Curves, name: str, colour: str) -> None:
    series = run.series.get(name)
    if series is None:
        return
    validation = name.startswith("val ")  # few points, each with a marker; training is noisy: a thin line
    axes.plot(
        series.iterations,
        [_curve_scale(name) * value for value in series.values],
        color=colour,
        linewidth=1.6 if validation else 0.9,
        marker="o" if validation else None,
        markersize=3,
        label=run.label,
    )


def _mark_stages(axes: Axes, runs: Sequence[Curves], *, named: bool) -> None:
    """A vertical line where a stage begins, with its name if all runs begin it at the same iteration.

    Names that would overlap are joined: "lecture 1 to lecture 4".
    """
    begins: dict[str, set[int]] = {}
    for run in runs:
        for stage, first in run.stages.items():
            begins.setdefault(stage, set()).add(first)
    for first in sorted(set().union(*begins.values())):
        axes.axvline(first, color=FAINT, linewidth=0.8, zorder=0)
    if not named:
        return
    width = _STAGE_NAME_WIDTH * max(max(series.iterations) for run in runs for series in run.series.values())
    groups: list[tuple[int, list[str]]] = []
    for first, stage in sorted((min(firsts), stage) for stage, firsts in begins.items() if len(firsts) == 1):
        if groups and first - groups[-1][0] < width:
            groups[-1][1].append(stage)
        else:
            groups.append((first, [stage]))
    for first, stages in groups:
        text = stages[0] if len(stages) == 1 else f"{stages[0]} to {stages[-1]}"
        axes.annotate(
            text, (first, 1.02), xycoords=axes.get_xaxis_transform(), fontsize=7, color=SOFT, rotation=30
        )


def _curve_scale(name: str) -> float:
    """100 for what is shown in percent: accuracy, and validation measures that are not in metres."""
    percent = name == "accuracy" or (name.startswith("val ") and name not in _METRES)
    return 100.0 if percent else 1.0


def _curve_label(name: str) -> str:
    unit = ", %" if _curve_scale(name) == 100 else ", m" if name in _METRES else ""
    return f"{name.replace('val', 'validation')}{unit}"


def _draw_intervals(
    axes: Axes, names: Sequence[str], series: Mapping[str, Sequence[Measured]], x_label: str, y_label: str
) -> None:
    """Means with their intervals, in percent; those of one name side by side."""
    for number, (label, values) in enumerate(series.items()):
        means = [100 * value.mean for value in values]
        below = [100 * (value.mean - value.low) for value in values]
        above = [100 * (value.high - value.mean) for value in values]
        axes.errorbar(
            [x + 0.16 * (number - (len(series) - 1) / 2) for x in range(len(names))],
            means,
            yerr=[below, above],
            fmt=_MARKERS[number % len(_MARKERS)],
            markersize=4,
            linewidth=1.2,
            color=line_colour(number),
            label=label,
        )
    axes.set_xticks(range(len(names)), names, rotation=45 if len(names) > 8 else 0)
    axes.set_ylim(0, 100)
    style_axes(axes, x_label, y_label, legend=len(series) > 1)
