"""The empty figure of every picture, and its colours.

Modules of this folder that a user imports load matplotlib only when they draw, so that the rest of the
package works without it. Nothing here touches pyplot or any other global state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from babywalk.common.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 150  # 8 inches are 1200 pixels
INK, SOFT, FAINT, PAPER = "#222222", "#6b6b6b", "#c9c9c9", "#ffffff"
# Okabe and Ito's colours, which people with any kind of colour vision can tell apart; dark ones first.
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#222222", "#56b4e9", "#e69f00")


def empty_figure(width: float, height: float) -> Figure:
    """A white figure, in inches."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ConfigError(
            "Pictures need matplotlib. Install it with: pip install 'babywalk[plots]'."
        ) from None
    return Figure(figsize=(width, height), dpi=DPI, facecolor=PAPER)


def line_colour(number: int) -> str:
    """The colour of line `number`, from 0; they repeat after seven."""
    return LINES[number % len(LINES)]


def plain_axes(axes: Axes, below: str, beside: str = "", *, legend: bool = True) -> None:
    """The look of every diagram: what the axes are stands at them, no frame above and to the right."""
    axes.set_xlabel(below, fontsize=9, color=INK)
    axes.set_ylabel(beside, fontsize=9, color=INK)
    axes.tick_params(labelsize=8, colors=SOFT)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    if legend:
        axes.legend(frameon=False, fontsize=8, labelcolor=INK, handlelength=2.6)


def text_colour(ground: str) -> str:
    """Black or white, whichever is read more easily on a colour."""
    red, green, blue = (int(ground[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.58 else PAPER
