"""Words of an instruction, by the rule that the R2R data set established.

The text is split at runs of non-word characters; punctuation is kept, and singled out character by
character unless it is a run of periods. Every word count of the field rests on this rule.
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
