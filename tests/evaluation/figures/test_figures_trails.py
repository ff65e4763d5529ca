from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from babywalk.evaluation.figures.trails import halves, lanes, line_length, point_along, track

SQUARE = np.array([(0.0, 0.0), (4.0, 0.0), (4.0, 4.0)])


def test_a_single_path_is_drawn_on_its_edges():
    (lane,) = lanes([[3, 5, 4]])
    assert lane.tolist() == [0, 0]


def test_paths_in_the_same_direction_keep_their_sides():
    first, second = lanes([[1, 5, 3, 9], [1, 5, 3, 8]])
    assert first.tolist() == [-0.5, -0.5, 0]
    assert second.tolist() == [0.5, 0.5, 0]


def test_paths_in_opposite_directions_are_drawn_on_both_sides():
    first, second = lanes([[1, 2], [2, 1]])
    assert first.tolist() == second.tolist() == [-0.5]  # left of each direction


def test_a_path_that_turns_back_is_drawn_beside_itself():
    (lane,) = lanes([[1, 2, 1]])
    assert lane.tolist() == [-0.5, -0.5]


def test_many_lanes_are_narrower():
    outermost = [lane[0] for lane in lanes([[1, 2]] * 11)]
    assert (outermost[0], outermost[-1]) == pytest.approx((-2.5, 2.5))


def test_a_track_has_a_line_per_move_without_gaps():
    lines = track(SQUARE, np.array([0.5, 0.5]), width=0.2, corner=0.5)
    assert len(lines) == 2
    assert lines[0][0] == pytest.approx(SQUARE[0])
    assert lines[1][-1] == pytest.approx((4.1, 4.0))  # half a lane to the right, going north
    for before, after in pairwise(lines):
        assert before[-1] == pytest.approx(after[0])


def test_the_track_of_one_point_is_empty():
    assert track(SQUARE[:1], np.zeros(0), width=0.2, corner=0.5) == []


def test_a_line_is_split_in_the_middle_of_its_length():
    first, second = halves(SQUARE)
    assert line_length(first) == pytest.approx(line_length(second)) == pytest.approx(4.0)
    assert first[-1] == pytest.approx((4.0, 0.0))
    assert second[0] == pytest.approx((4.0, 0.0))
    place, direction = point_along(SQUARE, 0.75)
    assert place == pytest.approx((4.0, 2.0))
    assert direction == pytest.approx((0.0, 1.0))
