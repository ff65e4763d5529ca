from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babywalk.buildings.geodesics import NOWHERE, geodesics


def test_a_detour_is_as_long_as_its_edges() -> None:
    # 0 - 1 - 2 in an L with sides 3 and 4; 3 stands alone.
    positions = np.array([[0, 0, 0], [3, 0, 0], [3, 4, 0], [9, 9, 9]], dtype=float)
    walkable = np.zeros((4, 4), dtype=bool)
    walkable[[0, 1, 1, 2], [1, 0, 2, 1]] = True
    distance, onward = geodesics(positions, walkable)
    assert distance[0].tolist() == [0, 3, 7, np.inf]
    assert onward[0].tolist() == [0, 1, 1, NOWHERE]
    assert onward[2].tolist() == [1, 1, 2, NOWHERE]
    assert onward[3].tolist() == [NOWHERE, NOWHERE, NOWHERE, 3]


def test_height_counts() -> None:
    positions = np.array([[0, 0, 0], [0, 3, 4]], dtype=float)
    distance, _ = geodesics(positions, np.array([[False, True], [True, False]]))
    assert distance[0, 1] == pytest.approx(5)


@given(st.integers(0, 10_000))
def test_following_the_next_viewpoint_walks_the_shortest_way(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = 8
    walkable = np.triu(random.random((count, count)) < 0.3, 1)
    walkable |= walkable.T
    positions = random.random((count, 3))
    distance, onward = geodesics(positions, walkable)
    assert np.allclose(distance, distance.T)
    for a, b in np.ndindex(count, count):
        if np.isinf(distance[a, b]):
            assert onward[a, b] == NOWHERE
            continue
        at, walked = a, 0.0
        while at != b:
            after = onward[at, b]
            assert walkable[at, after]
            walked += float(np.linalg.norm(positions[at] - positions[after]))
            at = after
        assert walked == pytest.approx(distance[a, b])
