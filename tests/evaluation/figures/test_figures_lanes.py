from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from babywalk.evaluation.figures.lanes import along, halves, lanes, length, track

SQUARE = np.array([(0.0, 0.0), (4.0, 0.0), (4.0, 4.0)])


def test_a_path_alone_keeps_to_the_middle():
    (lane,) = lanes([[3, 5, 4]])
    assert lane.tolist() == [0, 0]


def test_paths_that_walk_together_keep_their_sides_whatever_the_numbers_of_viewpoints():
    first, second = lanes([[1, 5, 3, 9], [1, 5, 3, 8]])
    assert first.tolist() == [-0.5, -0.5, 0]
    assert second.tolist() == [0.5, 0.5, 0]


def test_paths_that_meet_head_on_are_drawn_on_two_sides():
    first, second = lanes([[1, 2], [2, 1]])
    assert first.tolist() == second.tolist() == [-0.5]  # the same hand of opposite walkers


def test_a_path_that_turns_back_walks_beside_itself():
    (lane,) = lanes([[1, 2, 1]])
    assert lane.tolist() == [-0.5, -0.5]


def test_many_lanes_are_drawn_closer_together():
    outermost = [lane[0] for lane in lanes([[1, 2]] * 11)]
    assert (outermost[0], outermost[-1]) == pytest.approx((-2.5, 2.5))


def test_a_track_has_a_line_for_every_step_and_no_gaps():
    lines = track(SQUARE, np.array([0.5, 0.5]), width=0.2, corner=0.5)
    assert len(lines) == 2
    assert lines[0][0] == pytest.approx(SQUARE[0])
    assert lines[1][-1] == pytest.approx((4.1, 4.0))  # half a lane to the right of its way north
    for before, after in pairwise(lines):
        assert before[-1] == pytest.approx(after[0])


def test_a_track_of_one_point_is_empty():
    assert track(SQUARE[:1], np.zeros(0), width=0.2, corner=0.5) == []


def test_a_line_is_cut_in_the_middle_of_its_length():
    first, second = halves(SQUARE)
    assert length(first) == pytest.approx(length(second)) == pytest.approx(4.0)
    assert first[-1] == pytest.approx((4.0, 0.0))
    assert second[0] == pytest.approx((4.0, 0.0))
    place, direction = along(SQUARE, 0.75)
    assert place == pytest.approx((4.0, 2.0))
    assert direction == pytest.approx((0.0, 1.0))
