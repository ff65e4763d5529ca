"""The tokeniser of the R2R data set, on which all published word counts are based.

The text is split at runs of non-word characters. Punctuation is kept, one token per character, except that a
run of periods is one token.
"""

from __future__ import annotations

import re
import string

_GAP = re.compile(r"(\W+)")
_PUNCTUATION = frozenset(string.punctuation)


def tokenise(text: str) -> list[str]:
    """The lower-cased words and punctuation marks of a text, in order."""
    tokens: list[str] = []
    for piece in _GAP.split(text.lower()):
        token = piece.strip()
        if not token:
            continue
        if _PUNCTUATION.issuperset(token) and token.strip("."):
            tokens.extend(token)
        else:
            tokens.append(token)
    return tokens
