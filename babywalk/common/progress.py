"""Progress bars: shown on a terminal, after two seconds, on standard error; silent elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any, TypeVar

from tqdm import tqdm

Item = TypeVar("Item")
_WIDTH = 80  # columns, where a terminal does not tell
_WORDS_ONLY = "{desc} {n_fmt}/{total_fmt} {elapsed}<{remaining} {rate_fmt}{postfix}"


def progress(
    items: Iterable[Item],
    what: str,
    *,
    total: int | None = None,
    done: int = 0,
    unit: str = "",
    words_only: bool = False,
) -> tqdm[Item]:
    """Walk through `items` with a bar labelled `what`; `done` of the total came before them.

    With `words_only` none is drawn, which leaves a narrow terminal room for a status.
    """
    return tqdm(
        items,
        desc=what,
        total=total,
        initial=done,
        unit=unit or "it",
        delay=2,
        bar_format=_WORDS_ONLY if words_only else None,
        disable=None,
        leave=False,
        **_width(),
    )


def _width() -> dict[str, Any]:
    """That of the terminal as it changes; some say that they have no columns."""
    try:
        known = os.get_terminal_size(sys.stderr.fileno()).columns > 0
    except (OSError, ValueError):  # no terminal, or nothing that has a number
        known = True
    return {"dynamic_ncols": True} if known else {"ncols": _WIDTH}


def log_line(text: str) -> None:
    """A line for whoever watches, on standard error, that no bar overwrites."""
    tqdm.write(text, file=sys.stderr)


def byte_progress(what: str, *, total: int | None, done: int = 0) -> tqdm[Any]:
    """A bar that counts bytes, to be advanced with `.update(n)`; `done` bytes are there already."""
    return tqdm(
        desc=what, total=total, initial=done, unit="B", unit_scale=True, delay=2, disable=None, leave=False
    )
