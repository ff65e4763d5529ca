"""The shared style of all figures: size, colours and axes; and saving to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from babywalk.common.errors import ConfigError
from babywalk.common.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 150  # 8 inches are 1200 pixels
INK, SOFT, FAINT, PAPER = "#222222", "#6b6b6b", "#c9c9c9", "#ffffff"
# The Okabe-Ito palette, safe for colour-blind readers; dark colours first.
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#222222", "#56b4e9", "#e69f00")
# Without a date in its metadata, a figure always gives the same bytes.
_METADATA: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


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
    """The colour of line `number`, from 0; colours repeat after seven."""
    return LINES[number % len(LINES)]


def text_colour(background: str) -> str:
    """Black or white, whichever has more contrast with a background colour."""
    red, green, blue = (int(background[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.58 else PAPER


def style_axes(axes: Axes, x_label: str, y_label: str = "", *, legend: bool = True) -> None:
    """Label the axes of a chart, and remove its upper and right border."""
    axes.set_xlabel(x_label, fontsize=9, color=INK)
    axes.set_ylabel(y_label, fontsize=9, color=INK)
    axes.tick_params(labelsize=8, colors=SOFT)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    if legend:
        axes.legend(frameon=False, fontsize=8, labelcolor=INK, handlelength=2.6)


def save(figure: Figure, file: Path) -> None:
    """Write a figure as PNG, SVG or PDF, by the suffix; the same figure gives the same bytes."""
    import matplotlib

    kind = file.suffix.lower().removeprefix(".")
    if kind not in _METADATA:
        raise ConfigError(
            f"{file}: pictures cannot be written as {file.suffix or 'a file without a suffix'}. "
            f"Choose from: {', '.join(f'.{known}' for known in _METADATA)}."
        )
    # Text stays text in an SVG: searchable, and accessible to screen readers.
    settings: dict[Any, Any] = {"svg.hashsalt": "babywalk", "svg.fonttype": "none", "pdf.fonttype": 42}
    with matplotlib.rc_context(settings), atomic_write(file) as temporary:
        figure.savefig(temporary, format=kind, metadata=_METADATA[kind])
