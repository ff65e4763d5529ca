"""Confidence intervals of means: percentile bootstrap over single values or whole groups."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from babywalk.common.errors import ConfigError, DataError
from babywalk.common.ragged import Integers
from babywalk.common.seeding import generator

_BLOCK_COUNTS = 1 << 21  # counts held at a time: 16 MB

Floats = NDArray[np.float64]


def confidence(
    values: Floats,  # (B,) or (B, M), M measures of B paths; infinite ones allowed
    *,
    seed: int = 0,
    resamples: int = 1000,
    level: float = 0.95,
    groups: Integers | None = None,  # (B,) the group of each value, such as its path or its house
) -> tuple[Floats, Floats]:  # () or (M,)
    """The bounds of the central `level` of the means of resampled values (percentile bootstrap).

    With `groups`, whole groups are resampled: instructions of one path, or paths of one house, are not
    independent. Both bounds are means of resamples, rounded outwards, so infinite values give an infinite
    bound and never NaN.
    """
    _check(values, resamples, level, groups)
    columns = values.reshape(len(values), -1)
    sizes = np.ones((len(values), 1))
    infinite = np.isinf(columns)
    # 0 * inf is NaN, so infinite values are counted separately.
    units = np.hstack([np.where(infinite, 0.0, columns), infinite, sizes])
    if groups is not None:
        units = _group_sums(units, groups)
    sums, infinities, size = np.split(_resampled_sums(units, resamples, seed), [columns.shape[1], -1], axis=1)
    means = np.sort(np.where(infinities > 0, np.inf, sums / size), axis=0)
    tail = (1 - level) / 2 * (resamples - 1)
    low, high = means[math.floor(tail)], means[math.ceil(resamples - 1 - tail)]
    return low.reshape(values.shape[1:]), high.reshape(values.shape[1:])


def _resampled_sums(units: Floats, resamples: int, seed: int) -> Floats:
    """(resamples, columns) sums over rows drawn with replacement, as many as there are."""
    draw = generator(seed, "bootstrap")
    block = max(1, _BLOCK_COUNTS // len(units))
    sums = np.empty((resamples, units.shape[1]))
    for begin in range(0, resamples, block):
        part = sums[begin : begin + block]
        counts = np.empty((len(part), len(units)))
        for count in counts:
            count[:] = np.bincount(draw.integers(len(units), size=len(units)), minlength=len(units))
        np.matmul(counts, units, out=part)
    return sums


def _group_sums(rows: Floats, groups: Integers) -> Floats:
    """(groups, columns) the sum of the rows of each group."""
    _, member = np.unique(groups, return_inverse=True)
    order = np.argsort(member, kind="stable")
    first = np.flatnonzero(np.diff(member[order], prepend=-1))
    sums: Floats = np.add.reduceat(rows[order], first, axis=0)
    return sums


def _check(values: Floats, resamples: int, level: float, groups: Integers | None) -> None:
    if not len(values):
        raise DataError("There are no values to resample.")
    if not (values > -np.inf).all():
        raise DataError("Some values are NaN or minus infinity; expected finite values or plus infinity.")
    if resamples < 1:
        raise ConfigError(f"resamples = {resamples} is out of range; expected 1 or more, usually 1000.")
    if not 0 < level < 1:
        raise ConfigError(f"level = {level} is out of range; expected a value between 0 and 1, usually 0.95.")
    if groups is not None and len(groups) != len(values):
        raise DataError(f"There are {len(groups)} groups for {len(values)} values; expected one for each.")
