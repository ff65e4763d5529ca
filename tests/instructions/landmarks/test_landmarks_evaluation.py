from __future__ import annotations

import numpy as np
import pytest

from babywalk.instructions.landmarks.evaluation import average_precision


def column(values: list[float]) -> np.ndarray:
    return np.array(values, dtype=np.float32)[:, None]


def test_average_precision_of_a_worked_example() -> None:
    # Relevant at ranks 1 and 3: (1/1 + 2/3) / 2.
    average = average_precision(column([0.9, 0.8, 0.7, 0.1]), np.array([[True], [False], [True], [False]]))
    assert average == pytest.approx([(1 + 2 / 3) / 2])


def test_equal_scores_are_one_group() -> None:
    relevant = np.array([[True], [False], [False], [False]])
    assert average_precision(column([1, 1, 1, 1]), relevant) == pytest.approx([0.25])
    assert average_precision(column([1, 1, 1, 1]), relevant[::-1]) == pytest.approx([0.25])


def test_a_landmark_that_no_text_names_is_nan() -> None:
    assert np.isnan(average_precision(column([1, 2]), np.zeros((2, 1), dtype=bool))).all()
