"""The measures as plain loops over one pair of paths, for reading, and for any distance function.

The tests compare the batched measures with these, and the benchmark compares their speeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

Viewpoint = TypeVar("Viewpoint")
Distance = Callable[[Viewpoint, Viewpoint], float]  # metres of the shortest path


def score_plain(
    distance: Distance[Viewpoint],
    prediction: Sequence[Viewpoint],
    reference: Sequence[Viewpoint],
    *,
    threshold: float = 3.0,
    spl_start_is_goal: str = "success",
) -> dict[str, float]:
    """All eight measures of one prediction against its reference; neither may be empty.

    Where the reference ends at its start, SPL is the success ("success") or 0 ("zero").
    """
    prediction, reference = _without_repeated_end(prediction), _without_repeated_end(reference)
    start, goal = reference[0], reference[-1]

    length = _length(distance, prediction)
    error = distance(prediction[-1], goal)
    success = float(error < threshold)
    oracle = float(min(distance(viewpoint, goal) for viewpoint in prediction) < threshold)
    shortest = distance(start, goal)
    efficiency = (
        shortest / max(shortest, length) if shortest > 0 else {"success": 1.0, "zero": 0.0}[spl_start_is_goal]
    )
    coverage = _coverage(distance, prediction, reference, threshold)
    expected = coverage * _length(distance, reference)
    total = expected + abs(expected - length)
    length_score = expected / total if total > 0 else 1.0
    ndtw = math.exp(-dtw(distance, prediction, reference) / (len(reference) * threshold))
    return {
        "PL": length,
        "NE": error,
        "SR": success,
        "OSR": oracle,
        "SPL": success * efficiency,
        "CLS": coverage * length_score,
        "nDTW": ndtw,
        "SDTW": success * ndtw,
    }


def dtw(
    distance: Distance[Viewpoint], prediction: Sequence[Viewpoint], reference: Sequence[Viewpoint]
) -> float:
    """Dynamic time warping: the least sum of distances over all monotone alignments of two paths."""
    cost = [[math.inf] * (len(reference) + 1) for _ in range(len(prediction) + 1)]
    cost[0][0] = 0.0
    for i, here in enumerate(prediction, start=1):
        for j, there in enumerate(reference, start=1):
            cost[i][j] = distance(here, there) + min(cost[i - 1][j], cost[i][j - 1], cost[i - 1][j - 1])
    return cost[-1][-1]


def _coverage(
    distance: Distance[Viewpoint],
    prediction: Sequence[Viewpoint],
    reference: Sequence[Viewpoint],
    threshold: float,
) -> float:
    nearest = [min(distance(here, there) for here in prediction) for there in reference]
    return sum(math.exp(-metres / threshold) for metres in nearest) / len(reference)


def _length(distance: Distance[Viewpoint], path: Sequence[Viewpoint]) -> float:
    return sum((distance(a, b) for a, b in pairwise(path)), start=0.0)


def _without_repeated_end(path: Sequence[Viewpoint]) -> Sequence[Viewpoint]:
    end = len(path)
    while end > 1 and path[end - 2] == path[end - 1]:
        end -= 1
    return path[:end]
