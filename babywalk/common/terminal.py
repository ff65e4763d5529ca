"""Text for a terminal: control characters are printed escaped, so that data cannot control the terminal."""

from __future__ import annotations

import re

# C0 without tab and line feed, DEL, C1, line separators, controls of the writing direction, lone surrogates.
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def printable(text: str) -> str:
    """A text whose control characters are escaped as in a Python string; tabs and line feeds stay."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)
