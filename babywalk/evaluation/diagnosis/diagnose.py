"""The whole diagnosis of one evaluation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from babywalk.episodes.vocabulary import Vocabulary
from babywalk.evaluation.diagnosis.grouping import (
    by_height,
    by_house,
    by_stairs,
    by_steps,
    by_unknown_words,
)
from babywalk.evaluation.diagnosis.slices import SHOWN, Slice, slice_of, slices
from babywalk.evaluation.diagnosis.step_failures import Losing, losing
from babywalk.evaluation.diagnosis.stopping import Stopping, stopping
from babywalk.evaluation.evaluation import Evaluation, length_groups
from babywalk.instructions.babysteps import BabySteps

_WORST = 3


@dataclass(frozen=True, slots=True)
class Spread:
    """A measure over houses: each house counts once, however many episodes it has."""

    lowest: float
    median: float
    highest: float


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Where an agent fails in a task."""

    task: str
    split: str
    whole: Slice
    groups: dict[str, list[Slice]]  # by what may make an episode hard
    stopping: Stopping
    losing: Losing | None  # None without aligned Baby-Steps
    houses: int
    spread: dict[str, Spread]  # over houses, of SR and SDTW
    worst: list[Slice]  # houses, by SDTW
    left_out: tuple[str, ...]  # what is missing here, and how to get it


def diagnose(
    evaluation: Evaluation,
    *,
    steps: BabySteps | None = None,
    vocabulary: Vocabulary | None = None,
    left_out: tuple[str, ...] = (),
    seed: int = 0,
) -> Diagnosis:
    """Look for where walks fail; `steps`, aligned or not, and a vocabulary each add what they can tell."""
    task = evaluation.task
    groups = {
        "words": length_groups(evaluation, "words"),
        "metres of path": length_groups(evaluation, "metres"),
        "height of path": by_height(task),
        "stairs in the instruction": by_stairs(task),
    }
    if steps is not None:
        groups = {"Baby-Steps": by_steps(steps), **groups}
    if vocabulary is not None:
        groups["unknown words"] = by_unknown_words(task, vocabulary)
    houses = slices(evaluation, by_house(task), seed)
    aligned = steps if steps is not None and steps.ends is not None else None
    return Diagnosis(
        task=task.name,
        split=task.split,
        whole=slice_of("all", evaluation, np.ones(len(task), dtype=np.bool_), seed),
        groups={name: slices(evaluation, found, seed) for name, found in groups.items()},
        stopping=stopping(evaluation, seed=seed),
        losing=losing(evaluation, aligned, seed=seed) if aligned else None,
        houses=len(houses),
        spread={measure: _spread(houses, measure) for measure in SHOWN},
        worst=sorted(houses, key=lambda house: house.measures["SDTW"].mean)[:_WORST],
        left_out=left_out,
    )


def _spread(houses: list[Slice], measure: str) -> Spread:
    means = [house.measures[measure].mean for house in houses]
    return Spread(min(means), float(np.median(means)), max(means))
