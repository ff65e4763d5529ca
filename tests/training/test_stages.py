"""What a batch of imitation is made of."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from babywalk.training.stages import steps_of_some


@given(st.lists(st.integers(1, 6), min_size=1, max_size=9), st.integers(1, 30), st.integers(0, 99))
def test_a_batch_has_all_steps_of_its_episodes_and_some_of_the_last(
    counts: list[int], batch: int, seed: int
) -> None:
    count = np.array(counts)
    episodes, steps = steps_of_some(count, batch, np.random.default_rng(seed))
    assert len(episodes) == len(steps) == batch
    assert (steps < count[episodes]).all()
    begin = 0
    while begin < batch:  # one drawn episode after another
        size = counts[episodes[begin]]
        theirs = steps[begin : begin + size]
        assert (episodes[begin : begin + size] == episodes[begin]).all()
        if len(theirs) == size:
            assert theirs.tolist() == list(range(size))
        else:
            assert (np.diff(theirs) > 0).all()
        begin += size


def test_every_step_is_drawn_as_often_as_any_other() -> None:
    """Five steps for episodes of three: of the second, any two, and not always those that come first."""
    drawn = np.zeros((2, 3))
    for seed in range(600):
        np.add.at(drawn, steps_of_some(np.array([3, 3]), 5, np.random.default_rng(seed)), 1)
    # 3000 draws for 6 steps: 500 each, with a spread of about 20.
    assert np.abs(drawn - 500).max() < 80
