"""Which floor each viewpoint is on, from heights alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BAND = 0.4  # metres above and below a floor within which its viewpoints lie
_STOREY = 2.0  # metres from one floor to the next, at least; less is a step within a floor
_FEWEST, _SHARE = 3, 0.03  # viewpoints that make a floor: a number, and a share of the house


def floor_heights(heights: NDArray[np.float64], most: int | None = None) -> NDArray[np.float64]:
    """The heights of the floors, rising: where viewpoints crowd, the most crowded first.

    Stairs have too few viewpoints at any one height to count as a floor. `most` limits the number.
    """
    ordered = np.sort(heights)
    near = np.abs(ordered[:, None] - ordered[None]) <= _BAND
    crowd = near.sum(axis=1)
    found: list[float] = []
    free = np.ones(len(ordered), dtype=bool)
    while free.any() and (most is None or len(found) < most):
        best = int(np.argmax(np.where(free, crowd, 0)))
        if found and crowd[best] < max(_FEWEST, _SHARE * len(ordered)):
            break
        found.append(float(np.median(ordered[near[best]])))
        free &= np.abs(ordered - found[-1]) >= _STOREY
    return np.sort(np.array(found))


def nearest_floor(heights: NDArray[np.float64], floors: NDArray[np.float64]) -> NDArray[np.int64]:
    """(N,) the floor, from 0, that each height is nearest to; viewpoints on stairs belong to one end."""
    nearest: NDArray[np.int64] = np.abs(heights[:, None] - floors[None]).argmin(axis=1)
    return nearest
