"""Progress bars on standard error, shown only on a terminal and after two seconds, and lines beside them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any, TypeVar

from tqdm import tqdm

from babywalk.common.terminal import printable

Item = TypeVar("Item")
_DEFAULT_WIDTH = 80  # columns, if the terminal reports none
_TEXT_ONLY = "{desc} {n_fmt}/{total_fmt} {elapsed}<{remaining} {rate_fmt}{postfix}"


def progress(
    items: Iterable[Item],
    label: str,
    *,
    total: int | None = None,
    done: int = 0,
    unit: str = "",
    text_only: bool = False,
) -> tqdm[Item]:
    """Iterate over `items` with a labelled bar; `done` of the total are finished already.

    With `text_only` no bar is drawn, which leaves space for a status on a narrow terminal.
    """
    return tqdm(
        items,
        desc=printable(label),
        total=total,
        initial=done,
        unit=unit or "it",
        delay=2,
        bar_format=_TEXT_ONLY if text_only else None,
        disable=None,
        leave=False,
        **_width(),
    )


def _width() -> dict[str, Any]:
    """Options that follow the width of the terminal, or set one if it reports 0 columns."""
    try:
        known = os.get_terminal_size(sys.stderr.fileno()).columns > 0
    except (OSError, ValueError):  # not a terminal, or without a file descriptor
        known = True
    return {"dynamic_ncols": True} if known else {"ncols": _DEFAULT_WIDTH}


def log_line(text: str) -> None:
    """Print a line to standard error that no progress bar overwrites."""
    tqdm.write(printable(text), file=sys.stderr)


def byte_progress(label: str, *, total: int | None, done: int = 0) -> tqdm[Any]:
    """A bar that counts bytes, advanced with `.update(n)`; `done` bytes are there already."""
    return tqdm(
        desc=printable(label),
        total=total,
        initial=done,
        unit="B",
        unit_scale=True,
        delay=2,
        disable=None,
        leave=False,
    )
