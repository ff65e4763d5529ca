"""Which Baby-Step loses the way: the first, in their order, whose end the walk does not come near to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.common.ragged import Ragged
from babywalk.evaluation.diagnosis.grouping import step_label
from babywalk.evaluation.diagnosis.slices import Slice, measured, slice_of
from babywalk.evaluation.evaluation import Evaluation, Measured
from babywalk.instructions.babysteps import BabySteps
from babywalk.navigation.measures import THRESHOLD


@dataclass(frozen=True, slots=True)
class LostAt:
    """One step, counted from 1, over all episodes that have it."""

    step: str
    came: int  # walks that kept to the way until this step
    lost: Measured  # the share of them that did not come near its end


@dataclass(frozen=True, slots=True)
class Losing:
    """Where walks leave the way."""

    steps: list[LostAt]
    kept: Slice | None  # walks that came near the end of every step; success now hangs on stopping


def losing(evaluation: Evaluation, steps: BabySteps, *, seed: int = 0) -> Losing:
    """Count, for each step, who came so far and who got lost there; the steps must be aligned."""
    passed = steps_passed(evaluation, steps)
    count, paths = steps.sentences.lengths, evaluation.paths
    # A row for each step that a walk came to: all those it passed, and the one it was lost in.
    tried = np.minimum(passed + 1, count)
    episode = np.repeat(np.arange(len(count)), tried)
    number = np.arange(len(episode)) - np.repeat(tried.cumsum() - tried, tried)
    lost = number == passed[episode]
    labels = np.array([step_label(one + 1) for one in number.tolist()])
    found = [
        LostAt(label, int(here.sum()), measured(lost[here], paths[episode[here]], seed))
        for label in dict.fromkeys(step_label(one + 1) for one in range(int(number.max(initial=-1)) + 1))
        if (here := labels == label).any()
    ]
    kept = passed == count
    return Losing(found, slice_of("kept to every step", evaluation, kept, seed) if kept.any() else None)


def steps_passed(evaluation: Evaluation, steps: BabySteps) -> NDArray[np.int64]:
    """(E,) how many steps each walk followed: it came near their ends one after another."""
    houses, walked = evaluation.task.houses, evaluation.trajectories.viewpoints
    ends = _step_ends(steps)
    passed = np.zeros(len(ends), dtype=np.int64)
    for episode in range(len(ends)):
        near = houses.distance(walked[episode][:, None], ends[episode]) < THRESHOLD  # (walked, steps)
        at = 0
        for step in range(near.shape[1]):
            ahead = near[at:, step]
            if not ahead.any():
                break
            at += int(ahead.argmax())
            passed[episode] += 1
    return passed


def _step_ends(steps: BabySteps) -> Ragged:
    """E rows: the viewpoint where each step ends."""
    task, ends = steps.task, steps.known_ends
    first = task.paths.start[task.chain_of(np.arange(len(steps)))]
    return Ragged(task.paths.values[np.repeat(first, ends.lengths) + ends.values], ends.start)
