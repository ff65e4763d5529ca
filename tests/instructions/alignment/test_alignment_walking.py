from __future__ import annotations

import numpy as np
import pytest
from builders import connectivity

from babywalk.buildings.features import Source, ViewFeatures
from babywalk.buildings.houses import Houses
from babywalk.buildings.panorama import COLUMNS
from babywalk.common.ragged import Ragged
from babywalk.instructions.alignment.sights import sights, unique_pairs
from babywalk.instructions.alignment.walking import EDGE_WIDTH, STATE_WIDTH, Walking, circle

STRAIGHT, RIGHT, BACK, LEFT = 0, 3, 6, 9
DOWN, LEVEL, UP = range(2 * COLUMNS, 2 * COLUMNS + 3)


@pytest.fixture
def houses() -> Houses:
    """North, then east, then up a stair to the east."""
    places = [(0, 0, 0), (0, 2, 0), (2, 2, 0), (4, 2, 2)]
    return Houses.of([connectivity("a", places, [(0, 1), (1, 2), (2, 3)])])


def test_an_angle_lies_between_two_directions() -> None:
    weights = circle(np.array([0.0, np.pi / 2, -np.pi / 12, np.pi]))
    assert weights[0].argmax() == STRAIGHT
    assert weights[1].argmax() == RIGHT
    assert weights[2, [0, 11]] == pytest.approx([0.5, 0.5])
    assert weights[3].argmax() == BACK
    assert weights.sum(axis=1) == pytest.approx([1, 1, 1, 1])


def test_turns_and_climbs_by_hand(houses: Houses) -> None:
    walking = Walking.of(houses, Ragged.of([[0, 1, 2, 3], [3, 2]]), np.array([np.pi, np.pi / 2]))
    assert walking.edge.shape == (6, EDGE_WIDTH)
    assert walking.state.shape == (6, STATE_WIDTH)
    turns = walking.edge[[0, 1, 2, 4], :COLUMNS].argmax(axis=1).tolist()
    assert turns == [BACK, RIGHT, STRAIGHT, BACK]
    assert walking.edge[[0, 1, 2, 4], DOWN : UP + 1].tolist() == [[0, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert not walking.edge[[3, 5]].any()  # nothing leaves the last state
    assert walking.before.tolist() == [0, 0, 1, 2, 3, 3]
    assert walking.state[:, COLUMNS].tolist() == [0, 0, 0, 1, 0, 1]  # the goal
    came = walking.state[:, COLUMNS + 4 : COLUMNS + 7]
    assert came[[0, 4]].tolist() == [[0, 0, 0]] * 2
    assert came[3].tolist() == [0, 0, 1]


def test_one_path_does_not_touch_the_next(houses: Houses) -> None:
    both = Walking.of(houses, Ragged.of([[0, 1], [1, 2, 3]]), np.array([0.3, 1.0]))
    alone = Walking.of(houses, Ragged.of([[1, 2, 3]]), np.array([1.0]))
    np.testing.assert_array_equal(both.edge[2:], alone.edge)
    np.testing.assert_array_equal(both.state[2:], alone.state)
    np.testing.assert_array_equal(both.before[2:], alone.before)


def test_what_is_seen_on_a_move(houses: Houses) -> None:
    views = np.arange(4 * 36, dtype=np.float32).reshape(4, 36, 1)
    source = Source("toy", views, views.mean(axis=1), {}, (), ())
    features = ViewFeatures("toy", 4, ((source, slice(0, 1)),), False)
    pairs, place = unique_pairs(np.array([0, 0, 1, 0]), np.array([0, 1, 2, 1]))
    assert pairs.tolist() == [[0, 0], [0, 1], [1, 2]]
    assert place.tolist() == [0, 1, 2, 1]
    seen = sights(houses, features, pairs)
    around = views.mean(axis=1)[:, 0]
    assert seen.tolist() == [
        [0, 0, around[0]],
        [views[0, COLUMNS, 0], views[1, COLUMNS, 0], around[1]],  # north is the first level view
        [views[1, COLUMNS + 3, 0], views[2, COLUMNS + 3, 0], around[2]],  # east the fourth
    ]
