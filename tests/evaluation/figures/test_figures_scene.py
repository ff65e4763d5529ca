from __future__ import annotations

import numpy as np
import pytest

from babywalk.evaluation.figures.scene import floor_heights, nearest_floor


def test_floors_are_the_heights_with_most_viewpoints():
    heights = np.array([1.5] * 10 + [2.2, 2.9, 3.6] + [4.3] * 6)
    floors = floor_heights(heights)
    assert floors == pytest.approx([1.5, 4.3])
    assert nearest_floor(heights, floors).tolist() == [0] * 10 + [0, 0, 1] + [1] * 6


def test_floors_do_not_depend_on_the_order_of_viewpoints():
    heights = np.array([1.5] * 5 + [4.3] * 5 + [7.2] * 5)
    shuffled = np.random.default_rng(0).permutation(heights)
    assert floor_heights(shuffled) == pytest.approx([1.5, 4.3, 7.2])


def test_a_small_height_difference_is_not_a_separate_floor():
    assert floor_heights(np.array([0.3] * 5 + [1.5] * 10)) == pytest.approx([1.5])


def test_a_single_viewpoint_is_a_floor():
    assert floor_heights(np.array([7.0])) == pytest.approx([7.0])


def test_a_limit_keeps_the_floors_with_most_viewpoints():
    heights = np.array([1.5] * 10 + [4.3] * 4 + [7.2] * 8)
    assert floor_heights(heights, limit=2) == pytest.approx([1.5, 7.2])
