"""Instructions as they would be told in a mirror, where left is right.

A house and its mirror image are both houses, and what is told of one is, with left and right exchanged, told
of the other: every walk that was described teaches twice.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from babywalk.common.ragged import Ragged

_SIDES = (("left", "right"), ("leftmost", "rightmost"))
# "Stop right there", "wait right in front": no side is meant.
_JUST = ("stop", "wait")


def mirrored(words: Ragged, numbers: Mapping[str, int]) -> Ragged:
    """Rows of word numbers with the sides exchanged; `numbers` are those of the words."""
    exchange = np.arange(max(numbers.values()) + 1, dtype=words.values.dtype)
    for one, other in _SIDES:
        if one in numbers and other in numbers:
            exchange[[numbers[one], numbers[other]]] = numbers[other], numbers[one]
    told = exchange[words.values]
    just = np.zeros(len(told), dtype=np.bool_)
    just[1:] = np.isin(words.values[:-1], [numbers[word] for word in _JUST if word in numbers])
    just[words.start[:-1][words.lengths > 0]] = False  # a row's first word follows none
    just &= words.values == numbers.get("right", -1)
    return Ragged(np.where(just, words.values, told), words.start)
