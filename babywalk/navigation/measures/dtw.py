"""Dynamic time warping of many pairs of paths at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from babywalk.common.ragged import Integers


def dtw(
    distances: NDArray[np.float64],  # (P, R, B); entries beyond a pair's own lengths are not used
    rows: Integers,  # (B,) viewpoints of each prediction, 1 to P
    columns: Integers,  # (B,) viewpoints of each reference, 1 to R
) -> NDArray[np.float64]:  # (B,)
    """The least sum of distances over all monotone alignments of two paths, from both starts to both ends.

    cost[i, j] = distances[i, j] + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1]).
    The cells of one anti-diagonal do not depend on each other, so each iteration computes one anti-diagonal
    for every pair, from the two before it.
    """
    height, width, batch = distances.shape
    lines = distances.reshape(height * width, batch)
    stride = max(1, width - 1)  # from one cell of an anti-diagonal to the next, in lines
    # Three successive anti-diagonals: cell (i, j), both from 1, is at index i; cells outside stay infinite.
    corner, side, here = np.full((3, height + 1, batch), np.inf)
    corner[0] = 0.0
    least, ends = np.empty(batch), rows + columns
    for diagonal in range(2, height + width + 1):  # i + j
        top, bottom = max(1, diagonal - width), min(height, diagonal - 1)
        first, last = ((i - 1) * (width - 1) + diagonal - 2 for i in (top, bottom))
        cells = here[top : bottom + 1]
        np.minimum(side[top - 1 : bottom], side[top : bottom + 1], out=cells)
        np.minimum(cells, corner[top - 1 : bottom], out=cells)
        cells += lines[first : last + 1 : stride]
        corner[0] = np.inf  # only cell (1, 1) has no predecessor
        done = np.flatnonzero(ends == diagonal)
        least[done] = here[rows[done], done]
        corner, side, here = side, here, corner
    return least
