"""The eight measures of vision-and-language navigation, singly and all at once for whole splits.

Each measure takes pairs of paths and returns one number per pair. docs/measures.md has the definitions and
what happens in degenerate cases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import Houses
from babywalk.common.errors import DataError, unknown
from babywalk.common.ragged import Ragged
from babywalk.navigation.measures.pairs import BLOCK_CELLS, THRESHOLD, Pairs, blocks

Floats = NDArray[np.float64]

# SPL where the start is the goal, by the name of the convention: its factor of success.
SPL_START_IS_GOAL = {"success": 1.0, "zero": 0.0}


def path_length(pairs: Pairs) -> Floats:
    """PL, (B,) metres along the prediction."""
    return pairs.prediction_metres


def navigation_error(pairs: Pairs) -> Floats:
    """NE, (B,) metres from the end of the prediction to the goal."""
    error: Floats = pairs.distances[-1, -1]
    return error


def success(pairs: Pairs) -> Floats:
    """SR, (B,) 1 where the prediction ends nearer to the goal than the threshold, else 0."""
    return (navigation_error(pairs) < pairs.threshold).astype(np.float64)


def oracle_success(pairs: Pairs) -> Floats:
    """OSR, (B,) 1 where the prediction ever comes nearer to the goal than the threshold, else 0."""
    nearest: Floats = pairs.distances[:, -1].min(axis=0)
    return (nearest < pairs.threshold).astype(np.float64)


def spl(pairs: Pairs, *, start_is_goal: str = "success") -> Floats:
    """SPL, (B,) success weighted by shortest / max(shortest, walked).

    Where the start is the goal, that is 0 / 0 or 0: `start_is_goal` is "success" (SPL is SR there) or "zero".
    """
    check_spl_start_is_goal(start_is_goal)
    shortest = pairs.shortest_metres
    longer = np.maximum(shortest, pairs.prediction_metres)
    otherwise = np.full_like(longer, SPL_START_IS_GOAL[start_is_goal])
    return success(pairs) * np.divide(shortest, longer, out=otherwise, where=shortest > 0)


def check_spl_start_is_goal(name: str) -> None:
    """Reject an unknown convention for SPL where the start is the goal."""
    if name not in SPL_START_IS_GOAL:
        raise unknown("spl_start_is_goal", name, SPL_START_IS_GOAL)


def cls(pairs: Pairs) -> Floats:
    """CLS, (B,) coverage of the reference times the length score (Jain et al. 2019)."""
    covered = np.exp(-pairs.distances.min(axis=0) / pairs.threshold)
    inside = np.arange(len(covered))[:, None] < pairs.reference_lengths
    coverage: Floats = covered.sum(axis=0, where=inside) / pairs.reference_lengths
    expected = coverage * pairs.reference_metres
    total = expected + np.abs(expected - pairs.prediction_metres)
    # 0 / 0: both lengths are zero, so they agree.
    length_score = np.divide(expected, total, out=np.ones_like(total), where=total > 0)
    return coverage * length_score


def ndtw(pairs: Pairs) -> Floats:
    """nDTW, (B,) exp(-DTW / (viewpoints of the reference * threshold)) (Ilharco et al. 2019)."""
    return np.exp(-pairs.dtw / (pairs.reference_lengths * pairs.threshold))


def sdtw(pairs: Pairs) -> Floats:
    """SDTW, (B,) nDTW where the prediction succeeds, else 0."""
    return success(pairs) * ndtw(pairs)


# In the order of the fields of Scores.
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
    """All measures of B paths, in the order of the paths; never NaN."""

    path_length: Floats  # (B,) metres
    navigation_error: Floats  # (B,) metres, infinite where the goal cannot be reached
    success: Floats  # (B,) 0 or 1
    oracle_success: Floats  # (B,) 0 or 1
    spl: Floats  # (B,) from 0 to 1, as the following
    cls: Floats  # (B,)
    ndtw: Floats  # (B,)
    sdtw: Floats  # (B,)

    def table(self) -> Floats:
        """(B, 8) one column per measure, in the order of MEASURES."""
        return np.column_stack([getattr(self, field.name) for field in fields(self)])

    def means(self) -> dict[str, float]:
        """The mean of each measure, keyed as MEASURES."""
        if not len(self.success):
            raise DataError("There are no paths to average over.")
        return dict(zip(MEASURES, self.table().mean(axis=0).tolist(), strict=True))


def score(
    houses: Houses,
    predictions: Ragged,
    references: Ragged,
    *,
    threshold: float = THRESHOLD,
    spl_start_is_goal: str = "success",
    cells: int = BLOCK_CELLS,
) -> Scores:
    """Every measure of every prediction against its reference: rows of viewpoints, none empty.

    `spl_start_is_goal` is "success" or "zero": SPL where a reference ends at its start, as in `spl`. `cells`
    bounds how many distances are held at a time; it affects speed and memory, not the scores.
    """
    check_spl_start_is_goal(spl_start_is_goal)
    measures = MEASURES | {"SPL": partial(spl, start_is_goal=spl_start_is_goal)}
    columns = np.empty((len(measures), len(references)))
    for rows, pairs in blocks(houses, predictions, references, threshold=threshold, cells=cells):
        for column, measure in zip(columns, measures.values(), strict=True):
            column[rows] = measure(pairs)
    return Scores(*columns)


def score_one(
    houses: Houses,
    prediction: Sequence[int],
    reference: Sequence[int],
    *,
    threshold: float = THRESHOLD,
    spl_start_is_goal: str = "success",
) -> dict[str, float]:
    """Every measure of one path, keyed as MEASURES."""
    scores = score(
        houses,
        Ragged.of([prediction]),
        Ragged.of([reference]),
        threshold=threshold,
        spl_start_is_goal=spl_start_is_goal,
    )
    return scores.means()
