from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from builders import connectivity, corridor, placed, walk
from hypothesis import given
from hypothesis import strategies as st

from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError
from babywalk.episodes.joining import JoinRule, chains, join_paths, join_rule


def test_walks_are_joined_if_the_gap_is_small_enough() -> None:
    houses = Houses.of([corridor("a", 8)])  # 2 m apart
    walks = placed(houses, walk("a", [0, 1, 2], 1), walk("a", [3, 4], 2), walk("a", [2, 1], 3))
    found = chains(walks, houses, JoinRule(2, 3.0, {}))
    # ends 2, 4, 1; starts 0, 3, 2: within 3 m are 2-3 and 2-2, 4-3, 1-0 and 1-2.
    assert found.tolist() == [[0, 1], [0, 2], [1, 1], [2, 0], [2, 2]]
    paths = join_paths(walks, houses, found)
    assert [paths[row].tolist() for row in range(5)] == [
        [0, 1, 2, 3, 4],
        [0, 1, 2, 1],  # the shared viewpoint is not repeated
        [3, 4, 3, 4],
        [2, 1, 0, 1, 2],
        [2, 1, 2, 1],
    ]


def test_the_gap_is_bridged_by_the_shortest_path() -> None:
    houses = Houses.of([corridor("a", 8, spacing=1.0)])
    walks = placed(houses, walk("a", [0, 1], 1), walk("a", [4, 5], 2))
    found = chains(walks, houses, JoinRule(2, 3.0, {}))
    assert found.tolist() == [[0, 0], [0, 1], [1, 1]]
    assert join_paths(walks, houses, found)[1].tolist() == [0, 1, 2, 3, 4, 5]


def test_the_maximum_gap_is_inclusive() -> None:
    houses = Houses.of([corridor("a", 4, spacing=3.0)])
    walks = placed(houses, walk("a", [0, 1], 1), walk("a", [2, 3], 2))
    assert [0, 1] in chains(walks, houses, JoinRule(2, 3.0, {})).tolist()
    assert [0, 1] not in chains(walks, houses, JoinRule(2, 2.999, {})).tolist()


def test_walks_are_not_joined_across_houses_or_unreachable_viewpoints() -> None:
    island = connectivity("b", [(0, 0, 0), (1, 0, 0), (1.5, 0, 0), (2, 0, 0)], [(0, 1), (2, 3)])
    houses = Houses.of([corridor("a", 3), island])
    walks = placed(houses, walk("a", [0, 1], 1), walk("b", [0, 1], 2), walk("b", [2, 3], 3))
    assert chains(walks, houses, JoinRule(2, 3.0, {})).tolist() == [[0, 0], [1, 1], [2, 2]]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=6), st.integers(2, 4))
def test_chains_are_all_combinations_in_order(ends: list[tuple[int, int]], length: int) -> None:
    houses = Houses.of([corridor("a", 6)])
    paths = [
        list(range(begin, end + 1)) if begin <= end else list(range(begin, end - 1, -1))
        for begin, end in ends
    ]
    walks = placed(houses, *(walk("a", path, number) for number, path in enumerate(paths)))
    expected = [
        chain
        for chain in product(range(len(paths)), repeat=length)
        if all(abs(paths[a][-1] - paths[b][0]) <= 1 for a, b in pairwise(chain))
    ]
    found = chains(walks, houses, JoinRule(length, 2.0, {}))
    assert [tuple(row) for row in found.tolist()] == expected
    joined = join_paths(walks, houses, found)
    for row, chain in enumerate(expected):
        path = joined[row]
        assert houses.adjacent(path[:-1], path[1:]).all()  # every step is an edge
        assert (path[0], path[-1]) == (paths[chain[0]][0], paths[chain[-1]][-1])
        joints = sum(abs(paths[a][-1] - paths[b][0]) for a, b in pairwise(chain))
        assert len(path) - 1 == joints + sum(len(paths[part]) - 1 for part in chain)


def test_no_walks_give_no_chains() -> None:
    houses = Houses.of([corridor("a", 3)])
    found = chains(placed(houses), houses, JoinRule(3, 0.5, {}))
    assert found.shape == (0, 3)
    assert len(join_paths(placed(houses), houses, found)) == 0


def test_an_unknown_task_is_rejected() -> None:
    with pytest.raises(ConfigError, match=r"Task 'r5r' is not known\. Did you mean 'r.r'\?"):
        join_rule("r5r")
    assert np.isclose(join_rule("r8r").max_gap, 0.5)
