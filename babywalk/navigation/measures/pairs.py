"""Predictions beside their references, as the distances that every measure reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.ragged import Integers, Ragged
from babywalk.navigation.measures.paths import filled, ready
from babywalk.navigation.measures.warping import warping

THRESHOLD = 3.0  # metres, of R2R and everything built on it
CELLS = 1 << 18  # distances in one block: 2 MB, near enough to a core to be swept many times


@dataclass(frozen=True, eq=False)
class Pairs:
    """Every distance between a prediction and its reference, gathered once and shared by the measures.

    A path shorter than the longest is filled up with its last viewpoint: this changes neither what is
    nearest to it nor where it ends. Pairs lie along the last axis, so that a step of a measure is one
    sweep over memory. References can be walked: their lengths are finite; predictions may jump.
    Shapes: B pairs, P viewpoints in the longest prediction, R in the longest reference.
    """

    between: NDArray[np.float64]  # (P, R, B) metres from a predicted to a reference viewpoint
    predicted: NDArray[np.int64]  # (B,) viewpoints of each prediction
    described: NDArray[np.int64]  # (B,) viewpoints of each reference
    walked: NDArray[np.float64]  # (B,) metres along each prediction, infinite across a jump without a way
    due: NDArray[np.float64]  # (B,) metres along each reference
    direct: NDArray[np.float64]  # (B,) metres of the shortest walk from the start to the goal of a reference
    threshold: float = THRESHOLD  # metres: success is strictly nearer to the goal; the scale of CLS and nDTW

    def __post_init__(self) -> None:
        if not 0 < self.threshold < np.inf:
            raise ConfigError(
                f"threshold = {self.threshold} cannot work; expected metres above 0, usually {THRESHOLD}."
            )

    @classmethod
    def of(
        cls, houses: Houses, predictions: Ragged, references: Ragged, *, threshold: float = THRESHOLD
    ) -> Pairs:
        """All pairs in one block, for batches of paths; `blocks` bounds the memory for whole splits."""
        left, right = _ready(houses, predictions, references)
        return _block(houses, left, right, np.arange(len(right)), threshold)

    @cached_property
    def warping(self) -> NDArray[np.float64]:
        """(B,) metres between prediction and reference under the best warping of time (DTW)."""
        return warping(self.between, self.predicted, self.described)


def blocks(
    houses: Houses,
    predictions: Ragged,
    references: Ragged,
    *,
    threshold: float = THRESHOLD,
    cells: int = CELLS,
) -> Iterator[tuple[NDArray[np.int64], Pairs]]:
    """Pairs of like lengths together, at most `cells` distances (or one pair) at a time, and their rows."""
    left, right = _ready(houses, predictions, references)
    across, down = left.lengths, right.lengths
    order = np.lexsort((down, across))[::-1]
    begin = 0
    while begin < len(order):
        # The longest prediction comes first; k pairs take k times it times the longest reference so far.
        longest = across[order[begin]]
        ahead = order[begin : begin + max(1, cells // longest)]
        size = longest * np.maximum.accumulate(down[ahead]) * np.arange(1, len(ahead) + 1)
        rows = ahead[: max(1, int(np.searchsorted(size, cells, side="right")))]
        yield rows, _block(houses, left, right, rows, threshold)
        begin += len(rows)


def _ready(houses: Houses, predictions: Ragged, references: Ragged) -> tuple[Ragged, Ragged]:
    if len(predictions) != len(references):
        raise DataError(
            f"There are {len(predictions)} predictions and {len(references)} references; "
            "expected one for each."
        )
    left, right = ready(houses, predictions, "Prediction"), ready(houses, references, "Reference")
    _check_houses(houses, left, right)
    return left, right


def _block(
    houses: Houses, predictions: Ragged, references: Ragged, rows: Integers, threshold: float
) -> Pairs:
    prediction, predicted = filled(predictions, rows)
    reference, described = filled(references, rows)
    due = _metres(houses, reference[:-1], reference[1:]).sum(axis=0)
    _check_walkable(due, rows)
    return Pairs(
        between=_metres(houses, prediction[:, None], reference),
        predicted=predicted,
        described=described,
        walked=_metres(houses, prediction[:-1], prediction[1:]).sum(axis=0),
        due=due,
        direct=_metres(houses, reference[0], reference[-1]),
        threshold=threshold,
    )


def _metres(houses: Houses, a: Integers, b: Integers) -> NDArray[np.float64]:
    """Distances inside houses; unlike `houses.distance`, spared the question whether a house is left."""
    return houses.distances.take(houses.row[a] + b)


def _check_walkable(due: NDArray[np.float64], rows: Integers) -> None:
    broken = rows[np.isinf(due)]
    if len(broken):
        raise DataError(
            f"Reference {broken.min()} has a step between viewpoints that no walk joins; "
            "expected a path inside one connected part of a house."
        )


def _check_houses(houses: Houses, predictions: Ragged, references: Ragged) -> None:
    found, expected = houses.house_of[predictions.firsts], houses.house_of[references.firsts]
    strange = np.flatnonzero(found != expected)
    if len(strange):
        raise DataError(
            f"Prediction {strange[0]} is in house {houses.scans[found[strange[0]]]}; "
            f"expected its reference's house {houses.scans[expected[strange[0]]]}."
        )
