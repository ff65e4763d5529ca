"""The eight measures of vision-and-language navigation, and all of them for whole splits.

Each measure takes pairs of paths and gives one number per pair. What it means, and how each degenerate
case is decided, is told in docs/measures.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import Houses
from babywalk.common.errors import DataError
from babywalk.common.ragged import Ragged
from babywalk.navigation.measures.pairs import CELLS, THRESHOLD, Pairs, blocks

Floats = NDArray[np.float64]


def path_length(pairs: Pairs) -> Floats:
    """PL, (B,) metres walked."""
    return pairs.walked


def navigation_error(pairs: Pairs) -> Floats:
    """NE, (B,) metres from where the prediction ends to the goal."""
    error: Floats = pairs.between[-1, -1]
    return error


def success(pairs: Pairs) -> Floats:
    """SR, (B,) 1 where the prediction ends nearer to the goal than the threshold, else 0."""
    return (navigation_error(pairs) < pairs.threshold).astype(np.float64)


def oracle_success(pairs: Pairs) -> Floats:
    """OSR, (B,) 1 where the prediction ever comes nearer to the goal than the threshold, else 0."""
    nearest: Floats = pairs.between[:, -1].min(axis=0)
    return (nearest < pairs.threshold).astype(np.float64)


def spl(pairs: Pairs) -> Floats:
    """SPL, (B,) success weighted by direct / max(direct, walked); success alone where start is goal."""
    longer = np.maximum(pairs.direct, pairs.walked)
    weight = np.divide(pairs.direct, longer, out=np.ones_like(longer), where=pairs.direct > 0)
    return success(pairs) * weight


def cls(pairs: Pairs) -> Floats:
    """CLS, (B,) coverage of the reference times the agreement of lengths (Jain et al. 2019)."""
    covered = np.exp(-pairs.between.min(axis=0) / pairs.threshold)
    inside = np.arange(len(covered))[:, None] < pairs.described
    coverage: Floats = covered.sum(axis=0, where=inside) / pairs.described
    expected = coverage * pairs.due
    off = expected + np.abs(expected - pairs.walked)
    # 0 / 0: nothing was to be walked and nothing was, so the lengths agree.
    agreement = np.divide(expected, off, out=np.ones_like(off), where=off > 0)
    return coverage * agreement


def ndtw(pairs: Pairs) -> Floats:
    """nDTW, (B,) exp(-DTW / (viewpoints of the reference * threshold)) (Ilharco et al. 2019)."""
    return np.exp(-pairs.warping / (pairs.described * pairs.threshold))


def sdtw(pairs: Pairs) -> Floats:
    """SDTW, (B,) nDTW where the prediction succeeds, else 0."""
    return success(pairs) * ndtw(pairs)


# In the order of the literature, and of the fields of Scores.
MEASURES: dict[str, Callable[[Pairs], Floats]] = {
    "PL": path_length,
    "NE": navigation_error,
    "SR": success,
    "OSR": oracle_success,
    "SPL": spl,
    "CLS": cls,
    "nDTW": ndtw,
    "SDTW": sdtw,
}


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """All measures of B paths, in the order they were given; no number is ever NaN."""

    path_length: Floats  # (B,) metres
    navigation_error: Floats  # (B,) metres, infinite where the goal cannot be reached
    success: Floats  # (B,) 0 or 1
    oracle_success: Floats  # (B,) 0 or 1
    spl: Floats  # (B,) from 0 to 1, as all that follow
    cls: Floats  # (B,)
    ndtw: Floats  # (B,)
    sdtw: Floats  # (B,)

    def table(self) -> Floats:
        """(B, 8) one column per measure, in the order of MEASURES."""
        return np.column_stack([getattr(self, field.name) for field in fields(self)])

    def means(self) -> dict[str, float]:
        """The mean of each measure by the name it has in the literature."""
        if not len(self.success):
            raise DataError("There are no paths to average over.")
        return dict(zip(MEASURES, self.table().mean(axis=0).tolist(), strict=True))


def score(
    houses: Houses,
    predictions: Ragged,
    references: Ragged,
    *,
    threshold: float = THRESHOLD,
    cells: int = CELLS,
) -> Scores:
    """Every measure of every prediction against its reference, rows of viewpoints, none empty.

    `cells` bounds how many distances are held at a time; it changes speed and memory, not the scores.
    """
    columns = np.empty((len(MEASURES), len(references)))
    for rows, pairs in blocks(houses, predictions, references, threshold=threshold, cells=cells):
        for column, measure in zip(columns, MEASURES.values(), strict=True):
            column[rows] = measure(pairs)
    return Scores(*columns)


def score_one(
    houses: Houses,
    prediction: Sequence[int],
    reference: Sequence[int],
    *,
    threshold: float = THRESHOLD,
) -> dict[str, float]:
    """Every measure of one path, by the name it has in the literature."""
    return score(houses, Ragged.of([prediction]), Ragged.of([reference]), threshold=threshold).means()
