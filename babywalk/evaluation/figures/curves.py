"""Learning curves as a picture: a panel for each quantity, a line for each run, marks where stages begin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from babywalk.common.errors import DataError
from babywalk.evaluation.curves import Curves
from babywalk.evaluation.figures.canvas import FAINT, SOFT, empty_figure, line_colour, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT = 1.9  # inches of a panel
_SCALE = {"accuracy": 100.0}  # shares are shown in percent, as validation measures are
_METRES = ("val PL", "val NE")
_ROOM = 0.06  # of the width: what the name of a stage takes


def draw_curves(runs: Sequence[Curves]) -> Figure:
    """Every quantity that some run has."""
    names = list(dict.fromkeys(name for run in runs for name in run.series))
    if not names:
        raise DataError("Nothing was written down in these runs yet.")
    figure = empty_figure(8.0, _HEIGHT * len(names) + 0.6)
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(panels, names, strict=True):
        for number, run in enumerate(runs):
            _draw(axes, run, name, line_colour(number))
        _mark_stages(axes, runs, named=name == names[0])
        last = name == names[-1]
        plain_axes(axes, "Iterations" if last else "", _what(name), legend=name == names[0] and len(runs) > 1)
    figure.align_ylabels(panels)
    figure.tight_layout()
    return figure


def _draw(axes: Axes, run: Curves, name: str, colour: str) -> None:
    found = run.series.get(name)
    if found is None:
        return
    # Validations are few: each is seen. Training is noisy: a thin line.
    validation = name.startswith("val ")
    values = [_scale(name) * value for value in found.values]
    axes.plot(
        found.iterations,
        values,
        color=colour,
        linewidth=1.6 if validation else 0.9,
        marker="o" if validation else None,
        markersize=3,
        label=run.label,
    )


def _mark_stages(axes: Axes, runs: Sequence[Curves], *, named: bool) -> None:
    """A line where a stage begins; its name above, where all runs that have it begin it at the same place.

    Names that would be written over each other become one: "lecture 1 to lecture 4".
    """
    begins: dict[str, set[int]] = {}
    for run in runs:
        for stage, first in run.stages.items():
            begins.setdefault(stage, set()).add(first)
    for first in sorted(set().union(*begins.values())):
        axes.axvline(first, color=FAINT, linewidth=0.8, zorder=0)
    if not named:
        return
    room = _ROOM * max(end for run in runs for series in run.series.values() for end in series.iterations)
    groups: list[tuple[int, list[str]]] = []
    for first, stage in sorted((min(places), stage) for stage, places in begins.items() if len(places) == 1):
        if groups and first - groups[-1][0] < room:
            groups[-1][1].append(stage)
        else:
            groups.append((first, [stage]))
    for first, stages in groups:
        text = stages[0] if len(stages) == 1 else f"{stages[0]} to {stages[-1]}"
        place, across = (first, 1.02), axes.get_xaxis_transform()
        axes.annotate(text, place, xycoords=across, fontsize=7, color=SOFT, rotation=30)


def _scale(name: str) -> float:
    return 100.0 if name.startswith("val ") and name not in _METRES else _SCALE.get(name, 1.0)


def _what(name: str) -> str:
    unit = ", %" if _scale(name) == 100 else ", m" if name in _METRES else ""
    return f"{name.replace('val', 'validation')}{unit}"
