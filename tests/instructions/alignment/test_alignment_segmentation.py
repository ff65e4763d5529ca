"""The dynamic programmes against all segmentations, and proportional alignment."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from babywalk.assets.fine_grained import read_fine_grained
from babywalk.buildings.houses import load_houses
from babywalk.common.ragged import Ragged
from babywalk.instructions.alignment.examples import examples_from_annotations
from babywalk.instructions.alignment.methods import evaluate_alignment
from babywalk.instructions.alignment.segmentation import Potentials, best_ends, buckets, proportional
from babywalk.instructions.alignment.training import log_partition

Shape = tuple[int, int]  # steps, states
shapes = st.tuples(st.integers(1, 4), st.integers(1, 5))
seeds = st.integers(0, 2**32 - 1)


def segmentations(steps: int, states: int) -> Iterator[tuple[int, ...]]:
    """Every way for steps to end along a path, the last at its end."""
    for inner in combinations_with_replacement(range(states), steps - 1):
        yield (*inner, states - 1)


def random_potentials(draw: np.random.Generator, episodes: list[Shape]) -> Potentials:
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
def test_best_ends_is_the_best_of_all_segmentations(episodes: list[Shape], seed: int) -> None:
    scores = random_potentials(np.random.default_rng(seed), episodes)
    steps, states = (np.array(sizes) for sizes in zip(*episodes, strict=True))
    found = best_ends(scores, steps, states)
    for row, (m, t) in enumerate(episodes):
        ends = tuple(found[row, :m].tolist())
        assert ends in set(segmentations(m, t))
        best = max(score(scores, row, other) for other in segmentations(m, t))
        assert score(scores, row, ends) == pytest.approx(best, abs=1e-4)


@given(st.lists(shapes, min_size=1, max_size=3), seeds)
def test_best_ends_without_edge_and_begin_scores(episodes: list[Shape], seed: int) -> None:
    full = random_potentials(np.random.default_rng(seed), episodes)
    scores = Potentials(end=full.end, span=full.span)
    steps, states = (np.array(sizes) for sizes in zip(*episodes, strict=True))
    found = best_ends(scores, steps, states)
    for row, (m, t) in enumerate(episodes):
        best = max(score(scores, row, other) for other in segmentations(m, t))
        assert score(scores, row, tuple(found[row, :m].tolist())) == pytest.approx(best, abs=1e-4)


@given(st.integers(1, 4), st.lists(st.integers(1, 4), min_size=1, max_size=3), seeds)
def test_log_partition_sums_over_all_segmentations(steps: int, states: list[int], seed: int) -> None:
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


def test_every_episode_with_steps_is_in_one_bucket() -> None:
    draw = np.random.default_rng(1)
    steps, states = draw.integers(0, 9, 200), draw.integers(1, 12, 200)
    rows = list(buckets(steps, states, size=16))
    assert max(map(len, rows)) <= 16
    assert np.sort(np.concatenate(rows)).tolist() == np.flatnonzero(steps).tolist()


def split(words: list[int], states: int) -> list[int]:
    return proportional(Ragged.of([words]), np.array([states]))[0].tolist()


def test_proportional_follows_word_counts() -> None:
    assert split([5, 5], 5) == [2, 4]
    assert split([2, 2, 6], 6) == [1, 2, 5]
    assert split([1, 9], 5) == [0, 4]


def test_proportional_rounds_half_to_the_even_position_counted_from_one() -> None:
    assert split([1, 1], 2) == [1, 1]  # 1.5 of positions 1, 2
    assert split([1, 1], 4) == [1, 3]  # 2.5 of positions 1 to 4


def test_proportional_with_more_steps_than_states() -> None:
    assert split([1, 1, 1, 1], 2) == [0, 1, 1, 1]
    assert split([3, 4], 1) == [0, 0]


def test_proportional_with_steps_without_words_and_episodes_without_steps() -> None:
    ends = proportional(Ragged.of([[0, 0], [], [2, 2]]), np.array([3, 4, 5]))
    assert [ends[row].tolist() for row in range(3)] == [[0, 2], [], [2, 4]]


@given(st.lists(st.tuples(st.lists(st.integers(0, 40), max_size=9), st.integers(1, 30)), max_size=6))
def test_proportional_ends_never_decrease_and_reach_the_goal(episodes: list[tuple[list[int], int]]) -> None:
    states = np.array([states for _, states in episodes], dtype=np.int64)
    ends = proportional(Ragged.of([words for words, _ in episodes]), states)
    for row, (words, last) in enumerate(episodes):
        found = ends[row]
        assert len(found) == len(words)
        assert (np.diff(found) >= 0).all()
        assert (found >= 0).all()
        if words:
            assert found[-1] == last - 1


@pytest.mark.real
def test_proportional_gives_the_published_figures_of_fine_grained_r2r(real_data: Path) -> None:
    """40.5 % of the annotated inner ends are exact, and 86.3 % within one viewpoint."""
    houses = load_houses(real_data / "connectivity")
    (file,) = real_data.rglob("FGR2R_val_seen.json")
    examples, truth = examples_from_annotations(read_fine_grained(file), houses)
    accuracy = evaluate_alignment(proportional(examples.word_counts, examples.states), truth)
    assert accuracy.ends == 2755
    assert (round(100 * accuracy.exact, 1), round(100 * accuracy.within_one, 1)) == (40.5, 86.3)
