"""Rewards: what a walker earns in one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeOutcome:
    """What one step brought to walkers whose goals are known. Shapes: B walkers."""

    closer: Floats  # (B,) metres by which the distance to the goal fell
    stopped: NDArray[np.bool_]  # (B,) True where the walker chose STOP
    measures: Mapping[str, Floats]  # (B,) each of MEASURES; zero where the walk goes on


def goal(outcome: EpisodeOutcome) -> Floats:
    """Metres come closer, and 1 for choosing STOP where that is a success (Wang et al. 2019)."""
    return outcome.closer + outcome.stopped * outcome.measures["SR"]


def fidelity(outcome: EpisodeOutcome) -> Floats:
    """CLS and success, at the end (Jain et al. 2019)."""
    return outcome.measures["CLS"] + outcome.measures["SR"]


def ndtw(outcome: EpisodeOutcome) -> Floats:
    """The likeness of the walk to its reference in the right order, at the end (Ilharco et al. 2019)."""
    return outcome.measures["nDTW"].copy()  # the measures are given out too


def none(outcome: EpisodeOutcome) -> Floats:
    """Nothing, for imitation and evaluation."""
    return np.zeros_like(outcome.closer)


REWARDS: dict[str, Callable[[EpisodeOutcome], Floats]] = {
    "goal": goal,
    "fidelity": fidelity,
    "ndtw": ndtw,
    "none": none,
}
