from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babywalk.assets.fine_grained import read_fine_grained
from babywalk.buildings.houses import load_houses
from babywalk.common.ragged import Ragged
from babywalk.instructions.alignment.alignment_examples import examples_from_people
from babywalk.instructions.alignment.evaluation import evaluate_alignment
from babywalk.instructions.alignment.proportional import proportional


def split(words: list[int], states: int) -> list[int]:
    return proportional(Ragged.of([words]), np.array([states]))[0].tolist()


def test_in_proportion_to_words() -> None:
    assert split([5, 5], 5) == [2, 4]
    assert split([2, 2, 6], 6) == [1, 2, 5]
    assert split([1, 9], 5) == [0, 4]


def test_half_way_the_even_place_counted_from_one() -> None:
    assert split([1, 1], 2) == [1, 1]  # 1.5 of places 1, 2
    assert split([1, 1], 4) == [1, 3]  # 2.5 of places 1 to 4


def test_more_steps_than_states() -> None:
    assert split([1, 1, 1, 1], 2) == [0, 1, 1, 1]
    assert split([3, 4], 1) == [0, 0]


def test_steps_without_words_and_episodes_without_steps() -> None:
    ends = proportional(Ragged.of([[0, 0], [], [2, 2]]), np.array([3, 4, 5]))
    assert [ends[row].tolist() for row in range(3)] == [[0, 2], [], [2, 4]]


@given(st.lists(st.tuples(st.lists(st.integers(0, 40), max_size=9), st.integers(1, 30)), max_size=6))
def test_ends_never_fall_back_and_reach_the_goal(episodes: list[tuple[list[int], int]]) -> None:
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
def test_the_known_figures_of_fine_grained_r2r(real_data: Path) -> None:
    """Splitting by words places 40.5 % of people's inner ends exactly and 86.3 % within one viewpoint."""
    houses = load_houses(real_data / "connectivity")
    (file,) = real_data.rglob("FGR2R_val_seen.json")
    told, truth = examples_from_people(read_fine_grained(file), houses)
    placed = evaluate_alignment(proportional(told.word_counts, told.states), truth)
    assert placed.ends == 2755
    assert (round(100 * placed.exact, 1), round(100 * placed.within_one, 1)) == (40.5, 86.3)
