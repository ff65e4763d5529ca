"""Splitting a path in proportion to words: the control, and what is left where nothing was learned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from babywalk.common.ragged import Ragged


def proportional(words: Ragged, states: NDArray[np.int64]) -> Ragged:
    """Row i: where each step of episode i ends on a path of `states[i]` viewpoints.

    A step ends at the viewpoint nearest to its share of the path's edges, words being told at a steady pace.
    Half-way between two, the choice is the one with the even place counted from 1: of the possible rules,
    the one that gives the figures known for Fine-Grained R2R (40.5 % exact, 86.3 % within one).
    """
    told = np.append(0, np.cumsum(words.values, dtype=np.int64))
    before, after = told[words.start[:-1]], told[words.start[1:]]
    pace = np.repeat((states - 1) / np.maximum(1, after - before), words.lengths)  # edges per word
    place = np.round(1 + (told[1:] - np.repeat(before, words.lengths)) * pace) - 1
    ends = place.astype(np.int32)
    filled = words.lengths > 0
    ends[words.start[1:][filled] - 1] = states[filled] - 1  # also where no step has a word
    return Ragged(ends, words.start)
