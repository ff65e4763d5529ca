"""Small houses for the tests of the measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from babywalk.assets.connectivity import Connectivity
from babywalk.buildings.houses import Houses

Build = Callable[..., Connectivity]


@pytest.fixture(scope="session")
def build() -> Build:
    """One house from the positions of its viewpoints and pairs of neighbours."""

    def connectivity(
        positions: Sequence[tuple[float, ...]], edges: Sequence[tuple[int, int]], scan: str = "house"
    ) -> Connectivity:
        number = len(positions)
        walkable = np.zeros((number, number), dtype=bool)
        for a, b in edges:
            walkable[a, b] = walkable[b, a] = a != b
        padded = np.zeros((number, 3))
        padded[:, : len(positions[0])] = positions
        names = tuple(f"{scan}-{node}" for node in range(number))
        return Connectivity(scan, names, padded, np.ones(number), walkable, walkable)

    return connectivity


@pytest.fixture(scope="session")
def corridor(build: Build) -> Houses:
    """Viewpoints 0 to 3, two metres apart in a line, and 4, which is not connected to them."""
    return Houses.of([build([(0,), (2,), (4,), (6,), (8,)], [(0, 1), (1, 2), (2, 3)])])


@pytest.fixture(scope="session")
def two_houses(build: Build) -> Houses:
    """House 'a' with viewpoints 0 and 1, house 'b' with 2 and 3, one metre apart."""
    line = [(0,), (1,)], [(0, 1)]
    return Houses.of([build(*line, scan="a"), build(*line, scan="b")])
