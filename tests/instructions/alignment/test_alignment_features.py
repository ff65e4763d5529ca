from __future__ import annotations

import numpy as np
import pytest
from builders import connectivity

from babywalk.buildings.features import Source, ViewFeatures
from babywalk.buildings.houses import Houses
from babywalk.buildings.panorama import COLUMNS
from babywalk.common.errors import DataError
from babywalk.common.ragged import Ragged
from babywalk.instructions.alignment.features import (
    EDGE_WIDTH,
    STATE_WIDTH,
    Lexicon,
    PathFeatures,
    direction_weights,
    move_views,
    unique_moves,
)

STRAIGHT, RIGHT, BACK, LEFT = 0, 3, 6, 9
DOWN, LEVEL, UP = range(2 * COLUMNS, 2 * COLUMNS + 3)


@pytest.fixture
def houses() -> Houses:
    """North, then east, then up a stair to the east."""
    places = [(0, 0, 0), (0, 2, 0), (2, 2, 0), (4, 2, 2)]
    return Houses.of([connectivity("a", places, [(0, 1), (1, 2), (2, 3)])])


def test_an_angle_is_split_between_the_two_nearest_directions() -> None:
    weights = direction_weights(np.array([0.0, np.pi / 2, -np.pi / 12, np.pi]))
    assert weights[0].argmax() == STRAIGHT
    assert weights[1].argmax() == RIGHT
    assert weights[2, [0, 11]] == pytest.approx([0.5, 0.5])
    assert weights[3].argmax() == BACK
    assert weights.sum(axis=1) == pytest.approx([1, 1, 1, 1])


def test_turns_and_slopes_of_a_worked_example(houses: Houses) -> None:
    features = PathFeatures.of(houses, Ragged.of([[0, 1, 2, 3], [3, 2]]), np.array([np.pi, np.pi / 2]))
    assert features.edge.shape == (6, EDGE_WIDTH)
    assert features.state.shape == (6, STATE_WIDTH)
    turns = features.edge[[0, 1, 2, 4], :COLUMNS].argmax(axis=1).tolist()
    assert turns == [BACK, RIGHT, STRAIGHT, BACK]
    assert features.edge[[0, 1, 2, 4], DOWN : UP + 1].tolist() == [[0, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert not features.edge[[3, 5]].any()  # no edge leaves the last state
    assert features.previous.tolist() == [0, 0, 1, 2, 3, 3]
    assert features.state[:, COLUMNS].tolist() == [0, 0, 0, 1, 0, 1]  # the goal
    slope_before = features.state[:, COLUMNS + 4 : COLUMNS + 7]
    assert slope_before[[0, 4]].tolist() == [[0, 0, 0]] * 2
    assert slope_before[3].tolist() == [0, 0, 1]


def test_paths_do_not_depend_on_each_other(houses: Houses) -> None:
    both = PathFeatures.of(houses, Ragged.of([[0, 1], [1, 2, 3]]), np.array([0.3, 1.0]))
    alone = PathFeatures.of(houses, Ragged.of([[1, 2, 3]]), np.array([1.0]))
    np.testing.assert_array_equal(both.edge[2:], alone.edge)
    np.testing.assert_array_equal(both.state[2:], alone.state)
    np.testing.assert_array_equal(both.previous[2:], alone.previous)


def test_views_of_moves(houses: Houses) -> None:
    views = np.arange(4 * 36, dtype=np.float32).reshape(4, 36, 1)
    source = Source("toy", views, views.mean(axis=1), {}, (), ())
    features = ViewFeatures("toy", 4, ((source, slice(0, 1)),), False)
    moves, move = unique_moves(np.array([0, 0, 1, 0]), np.array([0, 1, 2, 1]))
    assert moves.tolist() == [[0, 0], [0, 1], [1, 2]]
    assert move.tolist() == [0, 1, 2, 1]
    on_moves = move_views(houses, features, moves)
    panorama = views.mean(axis=1)[:, 0]
    assert on_moves.tolist() == [
        [0, 0, panorama[0]],
        [views[0, COLUMNS, 0], views[1, COLUMNS, 0], panorama[1]],  # north is the first level view
        [views[1, COLUMNS + 3, 0], views[2, COLUMNS + 3, 0], panorama[2]],  # east the fourth
    ]


def test_a_lexicon_keeps_frequent_stems() -> None:
    lexicon = Lexicon.of([("turn", "left"), ("turning", "right"), ("left",)], at_least=2)
    assert lexicon.words == ("left", "turn")
    encoded = lexicon.encode([("turns", "up"), ("left", "left"), ()])
    assert [encoded[row].tolist() for row in range(3)] == [[1], [0, 0], []]


def test_no_frequent_word_is_an_error() -> None:
    with pytest.raises(DataError, match="No word occurs 3 times"):
        Lexicon.of([("turn",)], at_least=3)
