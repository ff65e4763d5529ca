"""The diagnosis of one evaluation, and its text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from babywalk.common.tables import table
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.evaluation.diagnosis.failures import StepFailures, Stopping, step_failures, stopping
from babywalk.evaluation.diagnosis.slices import (
    SHOWN,
    Slice,
    by_height,
    by_house,
    by_stairs,
    by_steps,
    by_unknown_words,
    slice_of,
    slices,
)
from babywalk.evaluation.evaluate import Evaluation, Measured, length_groups
from babywalk.instructions.babysteps import BabySteps

_WORST_HOUSES = 3


@dataclass(frozen=True, slots=True)
class Spread:
    """A measure over houses; each house counts once, whatever its number of episodes."""

    lowest: float
    median: float
    highest: float


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Where an agent fails in a task."""

    task: str
    split: str
    whole: Slice
    groups: dict[str, list[Slice]]  # by a property that may make an episode hard
    stopping: Stopping
    step_failures: StepFailures | None  # None without aligned Baby-Steps
    houses: int
    spread: dict[str, Spread]  # over houses, of SHOWN
    worst: list[Slice]  # the houses with the lowest SDTW
    left_out: tuple[str, ...]  # what could not be computed, and how to enable it


def diagnose(
    evaluation: Evaluation,
    *,
    steps: BabySteps | None = None,
    vocabulary: Vocabulary | None = None,
    left_out: tuple[str, ...] = (),
    seed: int = 0,
) -> Diagnosis:
    """Group the episodes of an evaluation and count how they fail.

    `steps` add groups by number of Baby-Steps and, if aligned, the failures of each step; a vocabulary adds
    groups by unknown words.
    """
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
        groups={name: slices(evaluation, masks, seed) for name, masks in groups.items()},
        stopping=stopping(evaluation, seed=seed),
        step_failures=step_failures(evaluation, aligned, seed=seed) if aligned else None,
        houses=len(houses),
        spread={measure: _spread(houses, measure) for measure in SHOWN},
        worst=sorted(houses, key=lambda house: house.measures["SDTW"].mean)[:_WORST_HOUSES],
        left_out=left_out,
    )


def diagnosis_text(diagnosis: Diagnosis) -> str:
    """A diagnosis as text, in percent with 95 % intervals."""
    blocks = [
        f"{diagnosis.task} {diagnosis.split}, in percent, with 95 % intervals",
        _slice_table(diagnosis),
        "",
        "Stopping",
        _stopping_table(diagnosis.stopping),
        "",
    ]
    if diagnosis.step_failures:
        blocks += ["Failures by Baby-Step", _step_table(diagnosis.step_failures), ""]
    spread = ", ".join(
        f"{name} {100 * over.lowest:.1f} to {100 * over.highest:.1f}, median {100 * over.median:.1f}"
        for name, over in diagnosis.spread.items()
    )
    blocks.append(f"Over {diagnosis.houses} houses: {spread}.")
    blocks += [f"Left out: {line}" for line in diagnosis.left_out]
    return "\n".join(blocks)


def _spread(houses: list[Slice], measure: str) -> Spread:
    means = [house.measures[measure].mean for house in houses]
    return Spread(min(means), float(np.median(means)), max(means))


def _slice_table(diagnosis: Diagnosis) -> str:
    rows = [_slice_row(diagnosis.whole)]
    for name, group in {**diagnosis.groups, "worst houses": diagnosis.worst}.items():
        rows.append([name, *[""] * (1 + 2 * len(SHOWN))])
        rows += [_slice_row(one, indent="  ") for one in group]
    header = ["", "instructions"]
    for measure in SHOWN:
        header += [measure, "95 %"]
    return table(header, rows)


def _slice_row(one: Slice, indent: str = "") -> list[str]:
    cells = [f"{indent}{one.name}", f"{one.episodes:,}"]
    for measure in SHOWN:
        cells += _percent_cells(one.measures[measure])
    return cells


def _stopping_table(found: Stopping) -> str:
    rows = {
        "  came within 3 m of the goal, stopped elsewhere": found.passed_goal,
        "  over 3 m shorter than the reference path": found.shorter,
        "  as long as the reference path": found.similar,
        "  over 3 m longer than the reference path": found.longer,
        "of walks within 3 m of the goal: stopped there": found.stopped_at_goal,
    }
    lines = [[name, *_percent_cells(value)] for name, value in rows.items()]
    return table([f"of {found.failures:,} failures", "", "95 %"], lines)


def _step_table(found: StepFailures) -> str:
    rows = [[one.step, f"{one.attempts:,}", *_percent_cells(one.failed)] for one in found.steps]
    text = table(["step", "attempts", "failed", "95 %"], rows)
    if found.all_followed is None:
        return text
    mean, interval = _percent_cells(found.all_followed.measures["SR"])
    return f"{text}\nFollowed every step: {found.all_followed.episodes:,} walks, SR {mean} ({interval})."


def _percent_cells(value: Measured | None) -> list[str]:
    """A share and its interval, in percent."""
    if value is None:
        return ["-", ""]
    return [f"{100 * value.mean:.1f}", f"{100 * value.low:.1f}..{100 * value.high:.1f}"]
