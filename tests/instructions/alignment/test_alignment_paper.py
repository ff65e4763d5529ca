"""The paper's alignment by landmarks, against its equations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from babywalk.common.ragged import Ragged
from babywalk.instructions.alignment.paper import align_by_landmarks, phi, psi

Shape = tuple[int, int]  # steps, states
shapes = st.tuples(st.integers(1, 4), st.integers(1, 5))
seeds = st.integers(0, 2**32 - 1)


def phi_by_recursion(scores: NDArray[np.float32], shared: bool) -> float:
    """Phi as the paper writes it, by recursion; `shared` allows i = t."""

    def value(t: int, m: int) -> float:
        here = float(scores[m, t])
        if m == 0:
            return here
        return here + max((value(i, m - 1) for i in range(t + shared)), default=-np.inf)

    return value(scores.shape[1] - 1, len(scores) - 1)


@given(st.lists(shapes, min_size=1, max_size=4), seeds)
def test_phi_solves_the_bellman_equation(episodes: list[Shape], seed: int) -> None:
    steps, states = (np.array(sizes) for sizes in zip(*episodes, strict=True))
    scores = np.random.default_rng(seed).normal(size=(len(episodes), steps.max(), states.max()))
    scores = scores.astype(np.float32)
    found = phi(scores, steps, states)
    for row, (m, t) in enumerate(episodes):
        ends = found[row, :m]
        assert (np.diff(ends) >= (1 if m <= t else 0)).all()
        assert ends[0] >= 0
        assert ends[-1] == t - 1
        total = scores[row, np.arange(m), ends].sum()
        assert total == pytest.approx(phi_by_recursion(scores[row, :m, :t], shared=m > t), abs=1e-4)


def test_psi_of_a_worked_example() -> None:
    logits = np.array([[1.0, 2.0, 3.0], [5.0, 7.0, 9.0]], dtype=np.float32)
    viewpoints = np.array([[1, 0, 1], [0, -1, -1]], dtype=np.int32)
    landmarks = np.array([[[0, 2], [1, -1]], [[-1, -1], [2, -1]]], dtype=np.int32)
    scores = psi(logits, viewpoints, landmarks)
    assert scores[0].tolist() == [[7.0, 2.0, 7.0], [7.0, 2.0, 7.0]]
    assert scores[1, :, 0].tolist() == [0.0, 3.0]


def test_phi_of_a_worked_example() -> None:
    # Step 1 scores best at state 2, step 2 at state 1: the best increasing pair is (1, 2), 5 + 1.
    scores = np.array([[[0, 5, 6, 0], [0, 3, 1, 0], [0, 0, 0, 2]]], dtype=np.float32)
    assert phi(scores, np.array([3]), np.array([4])).tolist() == [[1, 2, 3]]


def test_more_steps_than_states_share_states() -> None:
    scores = np.array([[[0, 9], [4, 0], [0, 0]]], dtype=np.float32)
    # Ending step 1 at the goal (9) would leave step 2 there too (0): 9 beats 0 + 4.
    assert phi(scores, np.array([3]), np.array([2])).tolist() == [[1, 1, 1]]


def test_episodes_aligned_together_equal_those_aligned_alone() -> None:
    draw = np.random.default_rng(3)
    logits = draw.normal(size=(20, 5)).astype(np.float32)
    paths = Ragged.of([draw.integers(0, 20, size).tolist() for size in (4, 7, 1)])
    path_of = draw.integers(0, 3, 50)
    steps = draw.integers(1, 6, 50)
    landmarks = Ragged.of(
        [draw.choice(5, draw.integers(0, 4), replace=False).tolist() for _ in range(steps.sum())]
    )
    together = align_by_landmarks(logits, paths, path_of, steps, landmarks)
    first = np.append(0, np.cumsum(steps))
    for episode in range(50):
        rows = np.arange(first[episode], first[episode + 1])
        alone = align_by_landmarks(
            logits, paths, path_of[episode : episode + 1], steps[episode : episode + 1], landmarks.take(rows)
        )
        assert together[episode].tolist() == alone[0].tolist()
