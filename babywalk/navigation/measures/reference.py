"""The measures written to be read: plain loops over one pair of paths and any distance.

The tests hold the fast form to this one, and the benchmark compares their speeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

Viewpoint = TypeVar("Viewpoint")
Distance = Callable[[Viewpoint, Viewpoint], float]  # metres of the shortest walk


def score_plainly(
    distance: Distance[Viewpoint],
    prediction: Sequence[Viewpoint],
    reference: Sequence[Viewpoint],
    *,
    threshold: float = 3.0,
) -> dict[str, float]:
    """All eight measures of one prediction against its reference, neither of them empty."""
    prediction, reference = _without_stops(prediction), _without_stops(reference)
    start, goal = reference[0], reference[-1]

    walked = _length(distance, prediction)
    error = distance(prediction[-1], goal)
    success = float(error < threshold)
    oracle = float(min(distance(viewpoint, goal) for viewpoint in prediction) < threshold)
    direct = distance(start, goal)
    efficiency = direct / max(direct, walked) if direct > 0 else 1.0
    coverage = _coverage(distance, prediction, reference, threshold)
    expected = coverage * _length(distance, reference)
    off = expected + abs(expected - walked)
    agreement = expected / off if off > 0 else 1.0
    ndtw = math.exp(-warping(distance, prediction, reference) / (len(reference) * threshold))
    return {
        "PL": walked,
        "NE": error,
        "SR": success,
        "OSR": oracle,
        "SPL": success * efficiency,
        "CLS": coverage * agreement,
        "nDTW": ndtw,
        "SDTW": success * ndtw,
    }


def warping(
    distance: Distance[Viewpoint], prediction: Sequence[Viewpoint], reference: Sequence[Viewpoint]
) -> float:
    """The least sum of distances over all ways to walk both paths forwards together (DTW)."""
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


def _without_stops(path: Sequence[Viewpoint]) -> Sequence[Viewpoint]:
    end = len(path)
    while end > 1 and path[end - 2] == path[end - 1]:
        end -= 1
    return path[:end]
