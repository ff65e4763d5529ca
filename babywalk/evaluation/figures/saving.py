"""Writing a figure to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from babywalk.common.errors import ConfigError
from babywalk.common.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Without a date, one figure always gives the same bytes.
_METADATA: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def save(figure: Figure, file: Path) -> None:
    """Write a figure as PNG, SVG or PDF, whichever the suffix says; the same figure gives the same bytes."""
    import matplotlib

    kind = file.suffix.lower().removeprefix(".")
    if kind not in _METADATA:
        raise ConfigError(
            f"{file}: pictures cannot be written as {file.suffix or 'a file without a suffix'}. "
            f"Choose from: {', '.join(f'.{known}' for known in _METADATA)}."
        )
    # Text stays text in an SVG, to be searched and read aloud.
    settings: dict[Any, Any] = {"svg.hashsalt": "babywalk", "svg.fonttype": "none", "pdf.fonttype": 42}
    with matplotlib.rc_context(settings), atomic_write(file) as temporary:
        figure.savefig(temporary, format=kind, metadata=_METADATA[kind])
