"""Measures as text and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from babywalk.common.files import atomic_write
from babywalk.common.tables import markdown, table
from babywalk.evaluation.evaluation import Evaluation, Group, Measured
from babywalk.navigation.measures import MEASURES

# The literature prints PL and NE in metres and the others in percent.
METRES = ("PL", "NE")


def number(measure: str, value: float) -> str:
    """A value of a measure as it is printed."""
    return f"{value:.2f}" if measure in METRES else f"{100 * value:.1f}"


def interval_text(measure: str, found: Measured) -> str:
    """The interval of a measure as it is printed."""
    return f"{number(measure, found.low)}..{number(measure, found.high)}"


def score_table(rows: Mapping[str, Mapping[str, Measured]], interval: str = "95 %") -> str:
    """One line of means per row, and under it the intervals."""
    lines: list[list[str]] = []
    for name, measured in rows.items():
        lines.append([name, *(number(key, measured[key].mean) for key in MEASURES)])
        lines.append(
            [
                f"  {interval}",
                *(interval_text(key, measured[key]) for key in MEASURES),
            ]
        )
    return table(["", *MEASURES], lines)


def mean_over_runs(runs: Sequence[Mapping[str, Measured]]) -> dict[str, Measured]:
    """The mean of each measure over runs, with the lowest and the highest run."""
    means = {name: [run[name].mean for run in runs] for name in MEASURES}
    return {name: Measured(sum(of) / len(of), min(of), max(of)) for name, of in means.items()}


def length_table(groups: Sequence[Group], what: str) -> str:
    """Means by length."""
    return table(
        [what, "episodes", *MEASURES],
        [
            [group.lengths, f"{group.episodes:,}", *(number(key, group.means[key]) for key in MEASURES)]
            for group in groups
        ],
    )


def markdown_scores(rows: Mapping[str, Mapping[str, Measured]]) -> str:
    """A table for a document: means, and under each its interval."""
    lines = []
    for name, measured in rows.items():
        cells = [
            f"{number(key, found.mean)} ({number(key, found.low)} to {number(key, found.high)})"
            for key, found in ((key, measured[key]) for key in MEASURES)
        ]
        lines.append([name, *cells])
    return markdown(["", *MEASURES], lines)


def write_per_instruction(file: Path, evaluation: Evaluation) -> None:
    """A CSV with the measures of every instruction."""
    task, values = evaluation.task, evaluation.scores.table()
    with atomic_write(file) as temporary, temporary.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["instr_id", "scan", *MEASURES])
        scans = task.houses.house_of[evaluation.trajectories.viewpoints.firsts]
        for id_, scan, row in zip(task.ids(np.arange(len(task))), scans, values.tolist(), strict=True):
            writer.writerow([id_, task.houses.scans[scan], *row])
