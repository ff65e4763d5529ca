"""Texts as the tagger reads them: one line, single spaces, and the way back to the text as given.

White space would otherwise be tokens of its own between the words, which the tagger's context sees.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Half a character, which some data sets hold where an emoji was cut; it has no place in valid text.
_HALF = "[\ud800-\udfff]"
_UNEVEN = re.compile(rf"^\s|\s\s|[^\S ]|{_HALF}")
_KEPT = re.compile(r"\S+(?:\s(?=\s*\S))?")


class Flat(NamedTuple):
    """A text on one line, and the place in the given text of each of its characters."""

    text: str
    places: range | list[int]  # as many as the text has characters


def flatten(text: str) -> Flat:
    """The text with every run of white space as one space, and with none around it.

    A text that is even already is kept with a trailing space if it has one.
    """
    if not _UNEVEN.search(text):
        return Flat(text, range(len(text)))
    kept = list(_KEPT.finditer(text))
    line = " ".join(match.group().strip() for match in kept)
    places = [place for match in kept for place in range(match.start(), match.end())]
    return Flat(re.sub(_HALF, "\N{REPLACEMENT CHARACTER}", line), places)
