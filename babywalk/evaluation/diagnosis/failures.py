"""How walks fail: by stopping at the wrong place, and at which Baby-Step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.common.ragged import Ragged
from babywalk.evaluation.diagnosis.slices import Mask, Slice, mean_with_interval, slice_of, step_label
from babywalk.evaluation.evaluate import Evaluation, Measured
from babywalk.instructions.babysteps import BabySteps
from babywalk.navigation.measures import THRESHOLD


@dataclass(frozen=True, slots=True)
class Stopping:
    """How failed walks ended. A share is None where there is nothing to take a share of.

    Lengths are compared with the reference path; a difference up to the success threshold of 3 m is similar.
    """

    failures: int
    passed_goal: Measured | None  # of the failures: came within 3 m of the goal and stopped elsewhere
    stopped_at_goal: Measured | None  # of all walks that came within 3 m: success given oracle success
    shorter: Measured | None  # of the failures
    similar: Measured | None  # of the failures
    longer: Measured | None  # of the failures


def stopping(evaluation: Evaluation, *, seed: int = 0) -> Stopping:
    """How failed walks ended."""
    scores, paths = evaluation.scores, evaluation.paths
    failed, near = scores.success == 0, scores.oracle_success == 1
    difference = scores.path_length - evaluation.task.path_metres[paths]
    shorter, longer = difference < -THRESHOLD, difference > THRESHOLD

    def share(values: Mask, chosen: Mask) -> Measured | None:
        return mean_with_interval(values[chosen], paths[chosen], seed) if chosen.any() else None

    return Stopping(
        failures=int(failed.sum()),
        passed_goal=share(near, failed),
        stopped_at_goal=share(~failed, near),
        shorter=share(shorter, failed),
        similar=share(~shorter & ~longer, failed),
        longer=share(longer, failed),
    )


@dataclass(frozen=True, slots=True)
class StepFailure:
    """One Baby-Step, counted from 1, over all episodes that have it."""

    step: str
    attempts: int  # walks that followed all earlier steps
    failed: Measured  # the share of them that did not come near its end


@dataclass(frozen=True, slots=True)
class StepFailures:
    """At which Baby-Step walks fail: the first, in order, whose end the walk does not come near."""

    steps: list[StepFailure]
    all_followed: Slice | None  # walks that followed every step; None if there are none


def step_failures(evaluation: Evaluation, steps: BabySteps, *, seed: int = 0) -> StepFailures:
    """For each step, how many walks attempted it and which share failed; the steps must be aligned."""
    followed = steps_followed(evaluation, steps)
    count, paths = steps.sentences.lengths, evaluation.paths
    # A row for each attempted step: those followed, and the first that was not.
    attempted = np.minimum(followed + 1, count)
    episode = np.repeat(np.arange(len(count)), attempted)
    number = np.arange(len(episode)) - np.repeat(attempted.cumsum() - attempted, attempted)
    failed = number == followed[episode]
    labels = np.array([step_label(one + 1) for one in number.tolist()])
    found = [
        StepFailure(label, int(here.sum()), mean_with_interval(failed[here], paths[episode[here]], seed))
        for label in dict.fromkeys(step_label(one + 1) for one in range(int(number.max(initial=-1)) + 1))
        if (here := labels == label).any()
    ]
    everything = followed == count
    whole = slice_of("followed every step", evaluation, everything, seed) if everything.any() else None
    return StepFailures(found, whole)


def steps_followed(evaluation: Evaluation, steps: BabySteps) -> NDArray[np.int64]:
    """(E,) how many leading steps each walk followed: it came within 3 m of their ends, in order."""
    houses, walked = evaluation.task.houses, evaluation.trajectories.viewpoints
    ends = _step_ends(steps)
    followed = np.zeros(len(ends), dtype=np.int64)
    for episode in range(len(ends)):
        near = houses.distance(walked[episode][:, None], ends[episode]) < THRESHOLD  # (walked, steps)
        at = 0
        for step in range(near.shape[1]):
            remaining = near[at:, step]
            if not remaining.any():
                break
            at += int(remaining.argmax())
            followed[episode] += 1
    return followed


def _step_ends(steps: BabySteps) -> Ragged:
    """E rows: the viewpoint where each step ends."""
    task, ends = steps.task, steps.known_ends
    first = task.paths.start[task.chain_of(np.arange(len(steps)))]
    return Ragged(task.paths.values[np.repeat(first, ends.lengths) + ends.values], ends.start)
