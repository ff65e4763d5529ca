"""Data augmentation: instructions for mirrored houses, with left and right exchanged."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from babywalk.common.ragged import Ragged

_SIDES = (("left", "right"), ("leftmost", "rightmost"))
# In "stop right there" and "wait right in front" no side is meant.
_BEFORE_ADVERB = ("stop", "wait")


def mirrored(words: Ragged, numbers: Mapping[str, int]) -> Ragged:
    """Rows of word numbers with left and right exchanged; `numbers` are those of the vocabulary."""
    exchange = np.arange(max(numbers.values()) + 1, dtype=words.values.dtype)
    for one, other in _SIDES:
        if one in numbers and other in numbers:
            exchange[[numbers[one], numbers[other]]] = numbers[other], numbers[one]
    adverb = np.zeros(len(words.values), dtype=np.bool_)  # True where "right" is not a side
    adverb[1:] = np.isin(words.values[:-1], [numbers[word] for word in _BEFORE_ADVERB if word in numbers])
    adverb[words.start[:-1][words.lengths > 0]] = False  # the first word of a row has no word before it
    adverb &= words.values == numbers.get("right", -1)
    return Ragged(np.where(adverb, words.values, exchange[words.values]), words.start)
