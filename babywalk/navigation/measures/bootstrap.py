"""How far a mean can be trusted: percentile bootstrap, over single values or whole groups of them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from babywalk.common.errors import ConfigError, DataError
from babywalk.common.ragged import Integers
from babywalk.common.seeding import generator

_HELD = 1 << 21  # counts held at a time: 16 MB

Floats = NDArray[np.float64]


def confidence(
    values: Floats,  # (B,) or (B, M), M measures of B paths; infinite ones allowed
    *,
    seed: int = 0,
    resamples: int = 1000,
    level: float = 0.95,
    groups: Integers | None = None,  # (B,) the group of each value, such as its path or its house
) -> tuple[Floats, Floats]:  # () or (M,)
    """The interval that holds the central `level` of the means of values drawn with replacement.

    With `groups`, whole groups are drawn: instructions of one path, or paths of one house, are not
    independent. Both ends are means that were drawn, the nearest ones outwards, so infinite values
    give an infinite end and never NaN.
    """
    _check(values, resamples, level, groups)
    columns = values.reshape(len(values), -1)
    sizes = np.ones((len(values), 1))
    endless = np.isinf(columns)
    # Zero draws of an infinite value must count as zero, so infinities are summed apart.
    units = np.hstack([np.where(endless, 0.0, columns), endless, sizes])
    if groups is not None:
        units = _summed(units, groups)
    sums, infinities, size = np.split(_drawn(units, resamples, seed), [columns.shape[1], -1], axis=1)
    means = np.sort(np.where(infinities > 0, np.inf, sums / size), axis=0)
    tail = (1 - level) / 2 * (resamples - 1)
    low, high = means[math.floor(tail)], means[math.ceil(resamples - 1 - tail)]
    return low.reshape(values.shape[1:]), high.reshape(values.shape[1:])


def _drawn(units: Floats, resamples: int, seed: int) -> Floats:
    """(resamples, columns) sums over as many rows as there are, drawn with replacement."""
    draw = generator(seed, "bootstrap")
    held = max(1, _HELD // len(units))
    sums = np.empty((resamples, units.shape[1]))
    for begin in range(0, resamples, held):
        part = sums[begin : begin + held]
        counts = np.empty((len(part), len(units)))
        for count in counts:
            count[:] = np.bincount(draw.integers(len(units), size=len(units)), minlength=len(units))
        np.matmul(counts, units, out=part)
    return sums


def _summed(rows: Floats, groups: Integers) -> Floats:
    """(groups, columns) the rows of each group added up."""
    _, member = np.unique(groups, return_inverse=True)
    order = np.argsort(member, kind="stable")
    first = np.flatnonzero(np.diff(member[order], prepend=-1))
    sums: Floats = np.add.reduceat(rows[order], first, axis=0)
    return sums


def _check(values: Floats, resamples: int, level: float, groups: Integers | None) -> None:
    if not len(values):
        raise DataError("There are no values to draw from.")
    if not (values > -np.inf).all():
        raise DataError(
            "Among the values is NaN or minus infinity; neither has a place in a mean of measures."
        )
    if resamples < 1:
        raise ConfigError(f"resamples = {resamples} cannot work; expected 1 or more, usually 1000.")
    if not 0 < level < 1:
        raise ConfigError(f"level = {level} cannot work; expected a share between 0 and 1, usually 0.95.")
    if groups is not None and len(groups) != len(values):
        raise DataError(f"There are {len(groups)} groups for {len(values)} values; expected one for each.")
