"""Learning curves, read from the `metrics.csv` of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from babywalk.common.errors import DataError, unknown
from babywalk.navigation.measures import MEASURES
from babywalk.training.log import read_log

TRAINING = ("loss", "accuracy", "reward")  # in the order they are drawn


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity over a run."""

    iterations: list[int]  # counted over all stages
    values: list[float]


@dataclass(frozen=True, slots=True)
class Curves:
    """The curves of one run."""

    label: str
    stages: dict[str, int]  # by name: the iteration, over all stages, at which it began
    series: dict[str, Series]  # those of TRAINING that the run has, and the validation measure


def read_curves(runs: Sequence[Path], measure: str = "SDTW") -> list[Curves]:
    """The curves of runs, finished or not; runs with the same name are labelled by their paths."""
    if measure not in MEASURES:
        raise unknown("Measure", measure, MEASURES)
    names = [run.name for run in runs]
    return [
        _curves(run, run.name if names.count(run.name) == 1 else str(run), (*TRAINING, f"val {measure}"))
        for run in runs
    ]


def _curves(run: Path, label: str, wanted: Sequence[str]) -> Curves:
    file = run / "metrics.csv"
    if not file.is_file():
        raise DataError(f"{run}: has no metrics.csv. Give the directory of a run that has started.")
    stages: dict[str, int] = {}
    series = {name: Series([], []) for name in wanted}
    for row in read_log(file):
        stages.setdefault(row.stage, row.total - row.iteration)
        if row.name in series:
            series[row.name].iterations.append(row.total)
            series[row.name].values.append(row.value)
    return Curves(label, stages, {name: found for name, found in series.items() if found.iterations})
