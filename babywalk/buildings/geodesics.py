"""Shortest walks between all viewpoints of a house."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

NOWHERE = -1


def geodesics(
    positions: NDArray[np.float64],  # (N, 3)
    walkable: NDArray[np.bool_],  # (N, N) symmetric
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Lengths (N, N) of the shortest walks, infinite where there is none, and their first viewpoints (N, N).

    The first viewpoint from a to b is a's neighbour on the way; it is a itself where a is b, and
    NOWHERE where b cannot be reached.
    """
    tail, head = np.nonzero(walkable)
    # An edge is as long as the straight line between its ends in three dimensions.
    length = np.linalg.norm(positions[tail] - positions[head], axis=1)
    graph = csr_array((length, (tail, head)), shape=walkable.shape)
    distance, before = dijkstra(graph, return_predecessors=True)
    # The graph is undirected: what comes before a on the way from b comes after a on the way to b.
    onward = np.where(before.T < 0, NOWHERE, before.T).astype(np.int32)
    np.fill_diagonal(onward, np.arange(len(positions)))
    return distance, onward
