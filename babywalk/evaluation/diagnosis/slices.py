"""Slices: some of the episodes, and how well they were walked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.evaluation.evaluation import Evaluation, Measured
from babywalk.navigation.measures import confidence

SHOWN = ("SR", "SDTW")

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Slice:
    """Episodes that have something in common."""

    name: str
    episodes: int
    measures: dict[str, Measured]  # of SHOWN


def slice_of(name: str, evaluation: Evaluation, chosen: Mask, seed: int) -> Slice:
    """How the chosen episodes (E,), at least one, were walked."""
    columns = {"SR": evaluation.scores.success, "SDTW": evaluation.scores.sdtw}
    paths = evaluation.paths[chosen]
    measures = {key: measured(columns[key][chosen], paths, seed) for key in SHOWN}
    return Slice(name, int(chosen.sum()), measures)


def slices(evaluation: Evaluation, groups: dict[str, Mask], seed: int) -> list[Slice]:
    """A slice for each group that has episodes."""
    return [slice_of(name, evaluation, chosen, seed) for name, chosen in groups.items() if chosen.any()]


def measured(values: NDArray[Any], paths: NDArray[np.int64], seed: int) -> Measured:
    """The mean of values (B,), at least one, with its interval from drawing whole paths (B,)."""
    numbers = values.astype(np.float64)
    low, high = confidence(numbers, seed=seed, groups=paths)
    return Measured(float(numbers.mean()), float(low), float(high))


def share(values: NDArray[Any], chosen: Mask, paths: NDArray[np.int64], seed: int) -> Measured | None:
    """The same of the chosen ones; None where there is none."""
    return measured(values[chosen], paths[chosen], seed) if chosen.any() else None
