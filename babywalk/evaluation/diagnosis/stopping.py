"""Stopping: who walked wrong, and who walked right and did not stop there."""

from __future__ import annotations

from dataclasses import dataclass

from babywalk.evaluation.diagnosis.slices import share
from babywalk.evaluation.evaluation import Evaluation, Measured
from babywalk.navigation.measures import THRESHOLD


@dataclass(frozen=True, slots=True)
class Stopping:
    """Shares are None where there is nothing to take a share of.

    A walk is as long as the expert's where the two differ by no more than the threshold of success.
    """

    failures: int
    passed: Measured | None  # of the failures: came nearer than 3 m to the goal, and ended elsewhere
    stayed: Measured | None  # of those who came so near: ended there; success given oracle success
    shorter: Measured | None  # of the failures: walked less than the expert
    alike: Measured | None  # as far
    longer: Measured | None  # farther


def stopping(evaluation: Evaluation, *, seed: int = 0) -> Stopping:
    """How failures ended."""
    scores, paths = evaluation.scores, evaluation.paths
    failed, near = scores.success == 0, scores.oracle_success == 1
    more = scores.path_length - evaluation.task.path_metres[paths]
    shorter, longer = more < -THRESHOLD, more > THRESHOLD
    return Stopping(
        failures=int(failed.sum()),
        passed=share(near, failed, paths, seed),
        stayed=share(~failed, near, paths, seed),
        shorter=share(shorter, failed, paths, seed),
        alike=share(~shorter & ~longer, failed, paths, seed),
        longer=share(longer, failed, paths, seed),
    )
