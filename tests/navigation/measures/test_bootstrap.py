from __future__ import annotations

import numpy as np
import pytest

from babywalk.common.errors import ConfigError, DataError
from babywalk.navigation.measures import confidence


def normal(size: int) -> np.ndarray:
    return np.random.default_rng(5).normal(10.0, 2.0, size=size)


def test_interval_of_normal_values_has_the_theoretical_width():
    values = normal(4000)
    low, high = confidence(values, resamples=4000)
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert float(high - low) / 2 == pytest.approx(half, rel=0.06)
    assert float(high + low) / 2 == pytest.approx(values.mean(), abs=half / 10)


def test_intervals_cover_the_true_mean_at_the_given_level():
    rng = np.random.default_rng(1)
    samples = rng.normal(0.0, 1.0, size=(60, 400))
    low, high = confidence(samples, resamples=400, level=0.9)
    assert 0.84 < ((low < 0) & (high > 0)).mean() < 0.95


def test_the_same_seed_gives_the_same_interval():
    values = normal(50)
    assert confidence(values) == confidence(values)
    assert confidence(values) != confidence(values, seed=1)


def test_all_columns_use_the_same_resamples():
    values = normal(300)
    low, high = confidence(np.column_stack([values, -values, values]))
    np.testing.assert_allclose(low[[0, 2]], -high[1], rtol=1e-12)
    single = confidence(values)
    assert low[0] == pytest.approx(float(single[0]), rel=1e-12)
    assert single[0].shape == ()


def test_the_block_size_does_not_change_the_interval(monkeypatch):
    values = normal(40)
    whole = confidence(values)
    monkeypatch.setattr("babywalk.navigation.measures.bootstrap._BLOCK_COUNTS", 100)
    np.testing.assert_allclose(confidence(values), whole, rtol=1e-12)


def test_a_group_of_equal_values_counts_as_one_value():
    values = normal(80)
    copied = confidence(np.repeat(values, 9), groups=np.repeat(np.arange(80), 9))
    np.testing.assert_allclose(copied, confidence(values), rtol=1e-12)
    ungrouped = confidence(np.repeat(values, 9))
    assert copied[1] - copied[0] > 2 * (ungrouped[1] - ungrouped[0])


def test_the_order_of_rows_does_not_change_the_interval():
    values, groups = normal(30), np.arange(30) % 7
    order = np.random.default_rng(0).permutation(30)
    np.testing.assert_allclose(
        confidence(values[order], groups=groups[order]), confidence(values, groups=groups), rtol=1e-12
    )


def test_groups_are_weighted_by_their_size():
    """Two groups, one of three ones and one of one zero: a resample has mean 0, 3/4 or 1."""
    low, high = confidence(np.array([1.0, 1.0, 1.0, 0.0]), groups=np.array([5, 5, 5, 2]), level=0.4)
    assert (float(low), float(high)) == (0.75, 0.75)
    assert confidence(np.array([1.0, 1.0, 1.0, 0.0]), groups=np.array([5, 5, 5, 2])) == (0.0, 1.0)


def test_the_interval_of_equal_values_has_no_width():
    assert confidence(np.full(20, 0.5)) == (0.5, 0.5)
    assert confidence(np.ones(1)) == (1.0, 1.0)


def test_infinite_values_give_an_infinite_bound_and_no_nan():
    values = np.append(np.ones(50), np.inf)
    low, high = confidence(np.column_stack([values, np.ones(51)]))
    assert low.tolist() == [1.0, 1.0]
    assert high.tolist() == [np.inf, 1.0]


def test_invalid_arguments_are_refused():
    with pytest.raises(DataError, match=r"There are no values to resample\."):
        confidence(np.zeros(0))
    for invalid in (np.nan, -np.inf):
        with pytest.raises(DataError, match=r"Some values are NaN or minus infinity"):
            confidence(np.array([1.0, invalid]))
    with pytest.raises(DataError, match=r"There are 2 groups for 3 values; expected one for each\."):
        confidence(np.zeros(3), groups=np.zeros(2, dtype=int))
    with pytest.raises(ConfigError, match=r"resamples = 0 is out of range; expected 1 or more"):
        confidence(np.zeros(3), resamples=0)
    with pytest.raises(ConfigError, match=r"level = 95 is out of range; expected a value between 0 and 1"):
        confidence(np.zeros(3), level=95)
