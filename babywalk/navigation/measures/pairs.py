"""Pairs of a prediction and its reference, checked and reduced to the distances that all measures use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.ragged import Integers, Ragged, ranges, starts
from babywalk.navigation.measures.dtw import dtw

THRESHOLD = 3.0  # metres; R2R and the tasks built on it
BLOCK_CELLS = 1 << 18  # distances in one block: 2 MB, which fits into a core's cache


@dataclass(frozen=True, eq=False)
class Pairs:
    """The distances between predictions and their references, gathered once for all measures.

    Shorter paths are padded with their last viewpoint, which changes neither the nearest viewpoint nor the
    end. Pairs are on the last axis, so that each step of a measure is one pass over contiguous memory.
    References can be walked, so their lengths are finite; predictions may jump.
    Shapes: B pairs, P viewpoints in the longest prediction, R in the longest reference.
    """

    distances: NDArray[np.float64]  # (P, R, B) metres from a predicted to a reference viewpoint
    prediction_lengths: NDArray[np.int64]  # (B,) viewpoints of each prediction
    reference_lengths: NDArray[np.int64]  # (B,) viewpoints of each reference
    prediction_metres: NDArray[np.float64]  # (B,) along each prediction; infinite across unconnected parts
    reference_metres: NDArray[np.float64]  # (B,) along each reference
    shortest_metres: NDArray[np.float64]  # (B,) of the shortest path from start to goal of a reference
    threshold: float = THRESHOLD  # metres; success is strictly nearer to the goal; also scales CLS and nDTW

    def __post_init__(self) -> None:
        if not 0 < self.threshold < np.inf:
            raise ConfigError(
                f"threshold = {self.threshold} is out of range; expected metres above 0, usually {THRESHOLD}."
            )

    @classmethod
    def of(
        cls, houses: Houses, predictions: Ragged, references: Ragged, *, threshold: float = THRESHOLD
    ) -> Pairs:
        """All pairs in one block, for batches of paths; `blocks` bounds the memory for whole splits."""
        predictions, references = _prepare(houses, predictions, references)
        return _block(houses, predictions, references, np.arange(len(references)), threshold)

    @cached_property
    def dtw(self) -> NDArray[np.float64]:
        """(B,) metres between prediction and reference under dynamic time warping."""
        return dtw(self.distances, self.prediction_lengths, self.reference_lengths)


def blocks(
    houses: Houses,
    predictions: Ragged,
    references: Ragged,
    *,
    threshold: float = THRESHOLD,
    cells: int = BLOCK_CELLS,
) -> Iterator[tuple[NDArray[np.int64], Pairs]]:
    """Blocks of pairs of similar lengths, at most `cells` distances (or one pair) each, and their rows."""
    predictions, references = _prepare(houses, predictions, references)
    across, down = predictions.lengths, references.lengths
    order = np.lexsort((down, across))[::-1]
    begin = 0
    while begin < len(order):
        # The first prediction is the longest: k pairs take k * longest * (longest reference of the k) cells.
        longest = across[order[begin]]
        candidates = order[begin : begin + max(1, cells // longest)]
        size = longest * np.maximum.accumulate(down[candidates]) * np.arange(1, len(candidates) + 1)
        rows = candidates[: max(1, int(np.searchsorted(size, cells, side="right")))]
        yield rows, _block(houses, predictions, references, rows, threshold)
        begin += len(rows)


def _prepare(houses: Houses, predictions: Ragged, references: Ragged) -> tuple[Ragged, Ragged]:
    """Both sides, checked and without repeated ends."""
    if len(predictions) != len(references):
        raise DataError(
            f"There are {len(predictions)} predictions and {len(references)} references; "
            "expected one for each."
        )
    _check_paths(houses, predictions, "Prediction")
    predictions = _without_repeated_end(predictions)
    _check_paths(houses, references, "Reference")
    references = _without_repeated_end(references)
    _check_same_house(houses, predictions, references)
    return predictions, references


def _without_repeated_end(paths: Ragged) -> Ragged:
    """Paths (none empty) without the repeats of the last viewpoint, which are an agent standing still."""
    start, values = paths.start[:-1], paths.values
    if not ((paths.lengths > 1) & (paths.lasts == values[paths.start[1:] - 2])).any():
        return paths
    other = values != np.repeat(paths.lasts, paths.lengths)
    # Index of the last viewpoint that differs from the end; of the one before the path where none does.
    last_other = np.maximum.reduceat(np.where(other, np.arange(len(values)), -1), start)
    lengths = np.maximum(last_other, start - 1) + 2 - start
    new_start = starts(lengths)
    return Ragged(values[ranges(start, lengths, new_start)], new_start)


def _block(
    houses: Houses, predictions: Ragged, references: Ragged, rows: Integers, threshold: float
) -> Pairs:
    prediction, prediction_lengths = _padded(predictions, rows)
    reference, reference_lengths = _padded(references, rows)
    reference_metres = _metres(houses, reference[:-1], reference[1:]).sum(axis=0)
    _check_walkable(reference_metres, rows)
    return Pairs(
        distances=_metres(houses, prediction[:, None], reference),
        prediction_lengths=prediction_lengths,
        reference_lengths=reference_lengths,
        prediction_metres=_metres(houses, prediction[:-1], prediction[1:]).sum(axis=0),
        reference_metres=reference_metres,
        shortest_metres=_metres(houses, reference[0], reference[-1]),
        threshold=threshold,
    )


def _padded(paths: Ragged, rows: Integers) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """(longest, rows) the given paths, each padded with its last viewpoint, and (rows,) their lengths."""
    start, last = paths.start[:-1][rows], paths.start[1:][rows] - 1
    lengths = last - start + 1
    index = np.arange(lengths.max(initial=1))[:, None] + start
    return paths.values[np.minimum(index, last)], lengths


def _metres(houses: Houses, a: Integers, b: Integers) -> NDArray[np.float64]:
    """Distances between viewpoints of one house; faster than `houses.distance`, which checks that."""
    return houses.distances.take(houses.row[a] + b)


def _check_paths(houses: Houses, paths: Ragged, what: str) -> None:
    """Each path is in one house and not empty; `what` names it in errors."""
    empty = np.flatnonzero(paths.lengths == 0)
    if len(empty):
        raise DataError(f"{what} {empty[0]} is empty; a path has at least the viewpoint where it starts.")
    values = paths.values
    wrong = np.flatnonzero((values < 0) | (values >= len(houses.names)))
    if len(wrong):
        raise DataError(
            f"{what} {_row_at(paths, wrong[0])} has viewpoint {values[wrong[0]]}; "
            f"expected numbers from 0 to {len(houses.names) - 1}."
        )
    house = np.repeat(houses.house_of[paths.firsts], paths.lengths)
    wrong = np.flatnonzero(houses.house_of[values] != house)
    if len(wrong):
        raise DataError(
            f"{what} {_row_at(paths, wrong[0])} has viewpoint {houses.names[values[wrong[0]]]!r}; "
            f"expected viewpoints of {houses.scans[house[wrong[0]]]}, where it starts."
        )


def _check_same_house(houses: Houses, predictions: Ragged, references: Ragged) -> None:
    found, expected = houses.house_of[predictions.firsts], houses.house_of[references.firsts]
    wrong = np.flatnonzero(found != expected)
    if len(wrong):
        raise DataError(
            f"Prediction {wrong[0]} is in house {houses.scans[found[wrong[0]]]}; "
            f"expected its reference's house {houses.scans[expected[wrong[0]]]}."
        )


def _check_walkable(metres: NDArray[np.float64], rows: Integers) -> None:
    broken = rows[np.isinf(metres)]
    if len(broken):
        raise DataError(
            f"Reference {broken.min()} has a step between unconnected viewpoints; "
            "expected a path inside one connected part of a house."
        )


def _row_at(paths: Ragged, position: int) -> int:
    return int(np.searchsorted(paths.start, position, side="right")) - 1
