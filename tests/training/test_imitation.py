"""Which steps are in a batch of imitation."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from babywalk.training.imitation import sample_steps


@given(st.lists(st.integers(1, 6), min_size=1, max_size=9), st.integers(1, 30), st.integers(0, 99))
def test_batch_has_all_steps_of_its_episodes_and_some_of_the_last(
    counts: list[int], batch: int, seed: int
) -> None:
    count = np.array(counts)
    episodes, steps = sample_steps(count, batch, np.random.default_rng(seed))
    assert len(episodes) == len(steps) == batch
    assert (steps < count[episodes]).all()
    begin = 0
    while begin < batch:  # one sampled episode after another
        size = counts[episodes[begin]]
        theirs = steps[begin : begin + size]
        assert (episodes[begin : begin + size] == episodes[begin]).all()
        if len(theirs) == size:
            assert theirs.tolist() == list(range(size))
        else:
            assert (np.diff(theirs) > 0).all()
        begin += size


def test_every_step_is_sampled_equally_often() -> None:
    """Five steps of episodes with three each: all of the first episode, and any two of the second."""
    count = np.zeros((2, 3))
    for seed in range(600):
        np.add.at(count, sample_steps(np.array([3, 3]), 5, np.random.default_rng(seed)), 1)
    # 3000 samples of 6 steps: 500 each, with a standard deviation of about 20.
    assert np.abs(count - 500).max() < 80
