"""A diagnosis as a picture: how success falls with what makes an episode long, and where walks are lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from babywalk.evaluation.diagnosis.diagnose import Diagnosis
from babywalk.evaluation.evaluation import Measured
from babywalk.evaluation.figures.canvas import INK, empty_figure, line_colour, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BY_LENGTH = {"Baby-Steps": "Baby-Steps", "words": "Words", "metres of path": "Metres of the expert's path"}
_MARKS = ("o", "s")  # lines differ in more than colour


def draw_diagnosis(found: Diagnosis) -> Figure:
    """A panel for each kind of length, and one for the steps that lose the way, where they are known."""
    panels = {title: found.groups[name] for name, title in _BY_LENGTH.items() if name in found.groups}
    count = len(panels) + (found.losing is not None)
    columns = 2 if count > 1 else 1
    rows = -(-count // columns)
    figure = empty_figure(4.2 * columns, 2.9 * rows)
    places = figure.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axes, (title, group) in zip(places, panels.items(), strict=False):
        labels = [one.name for one in group]
        lines = {measure: [one.measures[measure] for one in group] for measure in found.whole.measures}
        _draw(axes, labels, lines, title)
    if found.losing is not None:
        steps = found.losing.steps
        shares = {"lost": [one.lost for one in steps]}
        lost = "Lost here, percent of who came so far"
        _draw(places[len(panels)], [one.step for one in steps], shares, "Baby-Step", lost)
    for axes in places[count:]:
        axes.set_axis_off()
    figure.suptitle(
        f"{found.task.upper()} {found.split}: {found.whole.episodes:,} instructions, 95 % intervals",
        fontsize=10,
        color=INK,
    )
    figure.tight_layout()
    return figure


def _draw(
    axes: Axes,
    labels: Sequence[str],
    lines: Mapping[str, Sequence[Measured]],
    below: str,
    beside: str = "Percent",
) -> None:
    """Means with their intervals, in percent, side by side for each label."""
    for number, (name, values) in enumerate(lines.items()):
        places = [place + 0.16 * (number - (len(lines) - 1) / 2) for place in range(len(labels))]
        means = [100 * value.mean for value in values]
        down = [100 * (value.mean - value.low) for value in values]
        up = [100 * (value.high - value.mean) for value in values]
        axes.errorbar(
            places,
            means,
            yerr=[down, up],
            fmt=_MARKS[number % len(_MARKS)],
            markersize=4,
            linewidth=1.2,
            color=line_colour(number),
            label=name,
        )
    axes.set_xticks(range(len(labels)), labels, rotation=45 if len(labels) > 8 else 0)
    axes.set_ylim(0, 100)
    plain_axes(axes, below, beside, legend=len(lines) > 1)
