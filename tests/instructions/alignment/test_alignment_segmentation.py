"""The dynamic programmes against every segmentation there is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from babywalk.common.ragged import Ragged
from babywalk.instructions.alignment.paper import align_by_landmarks, phi, psi
from babywalk.instructions.alignment.partition import log_partition
from babywalk.instructions.alignment.segmentation import Potentials, best_ends, buckets

Shape = tuple[int, int]  # steps, states
shapes = st.tuples(st.integers(1, 4), st.integers(1, 5))
seeds = st.integers(0, 2**32 - 1)


def segmentations(steps: int, states: int) -> Iterator[tuple[int, ...]]:
    """Every way for steps to end along a path, the last at its end."""
    for inner in combinations_with_replacement(range(states), steps - 1):
        yield (*inner, states - 1)


def drawn(draw: np.random.Generator, episodes: list[Shape]) -> Potentials:
    m, t = (max(sizes) for sizes in zip(*episodes, strict=True))
    table = [draw.normal(size=(m, t, len(episodes))).astype(np.float32) for _ in range(4)]
    return Potentials(end=table[0], span=table[1], edge=table[2][:, :-1], begin=table[3])


def score(scores: Potentials, row: int, ends: tuple[int, ...]) -> float:
    total, begin = 0.0, 0
    for m, end in enumerate(ends):
        total += scores.end[m, end, row] + scores.span[m, end - begin, row]
        if scores.begin is not None:
            total += scores.begin[m, begin, row]
        if scores.edge is not None:
            total += scores.edge[m, begin:end, row].sum()
        begin = end
    return float(total)


@given(st.lists(shapes, min_size=1, max_size=4), seeds)
def test_the_best_of_all_segmentations(episodes: list[Shape], seed: int) -> None:
    scores = drawn(np.random.default_rng(seed), episodes)
    steps, states = (np.array(sizes) for sizes in zip(*episodes, strict=True))
    found = best_ends(scores, steps, states)
    for row, (m, t) in enumerate(episodes):
        ends = tuple(found[row, :m].tolist())
        assert ends in set(segmentations(m, t))
        best = max(score(scores, row, other) for other in segmentations(m, t))
        assert score(scores, row, ends) == pytest.approx(best, abs=1e-4)


@given(st.lists(shapes, min_size=1, max_size=3), seeds)
def test_end_and_span_alone(episodes: list[Shape], seed: int) -> None:
    full = drawn(np.random.default_rng(seed), episodes)
    scores = Potentials(end=full.end, span=full.span)
    steps, states = (np.array(sizes) for sizes in zip(*episodes, strict=True))
    found = best_ends(scores, steps, states)
    for row, (m, t) in enumerate(episodes):
        best = max(score(scores, row, other) for other in segmentations(m, t))
        assert score(scores, row, tuple(found[row, :m].tolist())) == pytest.approx(best, abs=1e-4)


@given(st.integers(1, 4), st.lists(st.integers(1, 4), min_size=1, max_size=3), seeds)
def test_the_sum_over_all_segmentations(steps: int, states: list[int], seed: int) -> None:
    draw = np.random.default_rng(seed)
    t = max(states)
    end, edge, begin = (torch.from_numpy(draw.normal(size=(1, len(states), steps, t))) for _ in range(3))
    span = torch.from_numpy(draw.normal(size=(1, steps, t)))
    found = log_partition(end, span, edge[..., :-1], begin, torch.tensor([steps]), torch.tensor(states))
    for path, count in enumerate(states):
        scores = Potentials(
            end=end[0, path, :, :, None].numpy(),
            span=span[0, :, :, None].numpy(),
            edge=edge[0, path, :, :-1, None].numpy(),
            begin=begin[0, path, :, :, None].numpy(),
        )
        every = [score(scores, 0, ends) for ends in segmentations(steps, count)]
        assert found[0, path].item() == pytest.approx(np.logaddexp.reduce(every), abs=1e-4)


def literally(scores: NDArray[np.float32], shared: bool) -> float:
    """Phi as the paper writes it, by recursion; `shared` allows i = t."""

    def value(t: int, m: int) -> float:
        here = float(scores[m, t])
        if m == 0:
            return here
        return here + max((value(i, m - 1) for i in range(t + shared)), default=-np.inf)

    return value(scores.shape[1] - 1, len(scores) - 1)


@given(st.lists(shapes, min_size=1, max_size=4), seeds)
def test_phi_is_the_bellman_equation(episodes: list[Shape], seed: int) -> None:
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
        assert total == pytest.approx(literally(scores[row, :m, :t], shared=m > t), abs=1e-4)


def test_psi_by_hand() -> None:
    logits = np.array([[1.0, 2.0, 3.0], [5.0, 7.0, 9.0]], dtype=np.float32)
    viewpoints = np.array([[1, 0, 1], [0, -1, -1]], dtype=np.int32)
    landmarks = np.array([[[0, 2], [1, -1]], [[-1, -1], [2, -1]]], dtype=np.int32)
    scores = psi(logits, viewpoints, landmarks)
    assert scores[0].tolist() == [[7.0, 2.0, 7.0], [7.0, 2.0, 7.0]]
    assert scores[1, :, 0].tolist() == [0.0, 3.0]


def test_phi_by_hand() -> None:
    # Step 1 likes state 2, step 2 state 1: the best strictly rising pair before the goal is (1, 2), 5 + 1.
    scores = np.array([[[0, 5, 6, 0], [0, 3, 1, 0], [0, 0, 0, 2]]], dtype=np.float32)
    assert phi(scores, np.array([3]), np.array([4])).tolist() == [[1, 2, 3]]


def test_more_steps_than_states_share_them() -> None:
    scores = np.array([[[0, 9], [4, 0], [0, 0]]], dtype=np.float32)
    # Ending step 1 at the goal (9) would leave step 2 there too (0): 9 beats 0 + 4.
    assert phi(scores, np.array([3]), np.array([2])).tolist() == [[1, 1, 1]]


def test_whole_data_sets_at_once() -> None:
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


def test_every_episode_with_steps_is_in_one_bucket() -> None:
    draw = np.random.default_rng(1)
    steps, states = draw.integers(0, 9, 200), draw.integers(1, 12, 200)
    rows = list(buckets(steps, states, size=16))
    assert max(map(len, rows)) <= 16
    assert np.sort(np.concatenate(rows)).tolist() == np.flatnonzero(steps).tolist()
