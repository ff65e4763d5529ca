"""Progress bars: shown on a terminal, after two seconds, on standard error; silent elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, TypeVar

from tqdm import tqdm

Item = TypeVar("Item")


def progress(
    items: Iterable[Item], what: str, *, total: int | None = None, done: int = 0, unit: str = ""
) -> tqdm[Item]:
    """Walk through `items` with a bar labelled `what`; `done` of the total came before them."""
    return tqdm(
        items,
        desc=what,
        total=total,
        initial=done,
        unit=unit or "it",
        delay=2,
        dynamic_ncols=True,
        disable=None,
        leave=False,
    )


def tell(text: str) -> None:
    """A line for whoever watches, on standard error, that no bar overwrites."""
    tqdm.write(text, file=sys.stderr)


def byte_progress(what: str, *, total: int | None, done: int = 0) -> tqdm[Any]:
    """A bar that counts bytes, to be advanced with `.update(n)`; `done` bytes are there already."""
    return tqdm(
        desc=what, total=total, initial=done, unit="B", unit_scale=True, delay=2, disable=None, leave=False
    )
