from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from builders import connectivity, corridor

from babywalk.buildings.cache import load_houses
from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError, DataError


@pytest.fixture
def two() -> Houses:
    """A corridor of three and, after it in the index, one of four."""
    return Houses.of([corridor("a", 3), corridor("b", 4, spacing=1.5)])


def test_viewpoints_of_a_house_follow_each_other(two: Houses) -> None:
    assert two.first.tolist() == [0, 3, 7]
    assert two.house_of.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert two.viewpoints("b") == {"0": 3, "1": 4, "2": 5, "3": 6}


def test_distances_within_and_between_houses(two: Houses) -> None:
    a, b = np.array([0, 3, 3, 2, 0]), np.array([2, 6, 3, 0, 3])
    assert two.distance(a, b).tolist() == [4, 4.5, 0, 4, np.inf]
    assert two.distance(np.array([[0], [1]]), np.array([0, 1, 2])).tolist() == [[0, 2, 4], [2, 0, 2]]


def test_steps_towards_a_goal(two: Houses) -> None:
    assert two.step_towards(np.array([0, 6, 4]), np.array([2, 3, 4])).tolist() == [1, 5, 4]


def test_neighbours_are_padded(two: Houses) -> None:
    assert two.neighbours.tolist() == [[1, -1], [0, 2], [1, -1], [4, -1], [3, 5], [4, 6], [5, -1]]
    assert two.degree.tolist() == [1, 2, 1, 1, 2, 2, 1]
    assert two.adjacent(np.array([0, 0, 5]), np.array([1, 2, 6])).tolist() == [True, False, True]


def test_the_length_of_a_path(two: Houses) -> None:
    assert two.length(np.array([3, 4, 3, 4])) == 4.5
    assert two.length(np.array([3])) == 0


def test_sight_is_a_table_of_pairs() -> None:
    house = connectivity("c", [(0, 0, 0), (0, 1, 0), (0, 2, 0)], [(0, 1), (1, 2)])
    house.visible[0, 2] = True  # and not the other way
    houses = Houses.of([corridor("a", 2), house])
    assert houses.sight[houses.row[2] + np.array([2, 3, 4])].tolist() == [False, True, True]
    assert houses.sight[houses.row[4] + np.array([2, 3, 4])].tolist() == [False, True, False]


def test_a_house_that_is_not_there(two: Houses) -> None:
    with pytest.raises(ConfigError, match=r"House 'aa' is not known. Choose from: a, b\.|Did you mean 'a'"):
        two.viewpoints("aa")


def test_a_house_without_viewpoints_is_refused() -> None:
    empty = connectivity("ghost", np.zeros((0, 3)), [])
    with pytest.raises(DataError, match="House 'ghost' has no included viewpoint"):
        Houses.of([corridor("a", 2), empty])


def test_the_key_tells_orders_apart(two: Houses) -> None:
    other = Houses.of([corridor("b", 4), corridor("a", 3)])
    assert other.key != two.key
    assert Houses.of([corridor("a", 3), corridor("b", 4)]).key == two.key


@pytest.mark.real
def test_the_real_houses(real_data: Path) -> None:
    houses = load_houses(real_data / "connectivity")
    assert (len(houses), len(houses.names)) == (90, 10_567)
    assert houses.neighbours.shape[1] == 13
    assert round(float(houses.degree.mean()), 2) == 4.06
    assert (houses.degree == 0).sum() == 8
    assert np.diff(houses.first).max() == 348
    alone = np.flatnonzero(houses.degree == 0)[0]
    assert np.isinf(houses.distance(alone, houses.first[houses.house_of[alone]] + (alone == 0)))
