"""Learning curves: what a run wrote down while it learned."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from babywalk.common.errors import DataError, unknown
from babywalk.common.files import read_text
from babywalk.navigation.measures import MEASURES

TRAINING = ("loss", "accuracy", "reward")  # in the order they are drawn


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity over a run."""

    iterations: list[int]  # done in all stages when it was taken
    values: list[float]


@dataclass(frozen=True, slots=True)
class Curves:
    """One run."""

    label: str
    stages: dict[str, int]  # name to the iterations that were done in all when it began
    series: dict[str, Series]  # those of TRAINING that the run has, and the validation measure


def read_curves(runs: Sequence[Path], measure: str = "SDTW") -> list[Curves]:
    """The curves of some runs, finished or not; runs of the same name are told apart by their paths."""
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
        raise DataError(f"{run}: has no metrics.csv, so it is no directory of a run that has begun.")
    stages: dict[str, int] = {}
    series = {name: Series([], []) for name in wanted}
    # What a run is writing just now may end in half a line.
    text = read_text(file)
    for row in csv.DictReader(text[: text.rfind("\n") + 1].splitlines()):
        try:
            total, done, value = int(row["total"]), int(row["iteration"]), float(row["value"])
            stage, name = row["stage"], row["name"]
        except (KeyError, TypeError, ValueError):
            raise DataError(f"{file}: has a line that is no measurement: {list(row.values())}.") from None
        stages.setdefault(stage, total - done)
        if name in series:
            series[name].iterations.append(total)
            series[name].values.append(value)
    return Curves(label, stages, {name: found for name, found in series.items() if found.iterations})
