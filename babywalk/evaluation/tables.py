"""Scores and data statistics as tables: text, Markdown and CSV."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from babywalk.common.files import atomic_write
from babywalk.common.tables import markdown, table
from babywalk.episodes.joining import TASKS
from babywalk.episodes.statistics import Statistics, TaskStatistics
from babywalk.evaluation.evaluate import Evaluation, Group, Measured
from babywalk.navigation.measures import MEASURES

METRES = ("PL", "NE")  # printed in metres, the other measures in percent
_PAPER_STEPS = {"r2r": 1.8, "r4r": 3.6, "r6r": 5.6, "r8r": 7.4}  # table 1 of the paper
_ABSENT = "-"


def format_measure(measure: str, value: float) -> str:
    """A value of a measure as it is printed."""
    return f"{value:.2f}" if measure in METRES else f"{100 * value:.1f}"


def format_interval(measure: str, measured: Measured) -> str:
    """The interval of a measure as it is printed."""
    return f"{format_measure(measure, measured.low)}..{format_measure(measure, measured.high)}"


def score_table(rows: Mapping[str, Mapping[str, Measured]], interval: str = "95 %") -> str:
    """Means in one line per row, with the intervals in the line below."""
    lines: list[list[str]] = []
    for name, measures in rows.items():
        lines.append([name, *(format_measure(key, measures[key].mean) for key in MEASURES)])
        lines.append([f"  {interval}", *(format_interval(key, measures[key]) for key in MEASURES)])
    return table(["", *MEASURES], lines)


def markdown_scores(rows: Mapping[str, Mapping[str, Measured]]) -> str:
    """A Markdown table of means, each with its interval."""

    def cell(key: str, measured: Measured) -> str:
        mean, low, high = (
            format_measure(key, value) for value in (measured.mean, measured.low, measured.high)
        )
        return f"{mean} ({low} to {high})"

    lines = [[name, *(cell(key, measures[key]) for key in MEASURES)] for name, measures in rows.items()]
    return markdown(["", *MEASURES], lines)


def length_table(groups: Sequence[Group], length: str) -> str:
    """Means by length of instruction or path."""
    rows = [
        [group.lengths, f"{group.episodes:,}", *(format_measure(key, group.means[key]) for key in MEASURES)]
        for group in groups
    ]
    return table([length, "episodes", *MEASURES], rows)


def mean_over_runs(runs: Sequence[Mapping[str, Measured]]) -> dict[str, Measured]:
    """The mean of each measure over runs, with the range of the runs as its interval."""
    means = {name: [run[name].mean for run in runs] for name in MEASURES}
    return {name: Measured(sum(of) / len(of), min(of), max(of)) for name, of in means.items()}


def write_per_instruction(file: Path, evaluation: Evaluation) -> None:
    """Write a CSV with the measures of every instruction."""
    task, values = evaluation.task, evaluation.scores.table()
    with atomic_write(file) as temporary, temporary.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["instr_id", "scan", *MEASURES])
        scans = task.houses.house_of[evaluation.trajectories.viewpoints.firsts]
        for id_, scan, row in zip(task.ids(np.arange(len(task))), scans, values.tolist(), strict=True):
            writer.writerow([id_, task.houses.scans[scan], *row])


def data_table(statistics: Statistics) -> str:
    """The paper's table 1 with some more rows: a column per task, a block of rows per split."""
    by_task = {(row.task, row.split): row for row in statistics.tasks}
    tasks = [task for task in TASKS if any(row.task == task for row in statistics.tasks)]
    rows: list[list[str]] = []
    for split in dict.fromkeys(row.split for row in statistics.tasks):
        for label, cell in _DATA_ROWS.items():
            cells = [cell(by_task[task, split]) if (task, split) in by_task else _ABSENT for task in tasks]
            if set(cells) != {_ABSENT}:
                rows.append([f"{split} {label}", *cells])
        rows.append([""] * (len(tasks) + 1))
    lines = [
        f"{statistics.houses:,} houses, {statistics.viewpoints:,} viewpoints",
        "",
        table(["", *(task.upper() for task in tasks)], rows[:-1]),
        "",
        f"Vocabulary: {statistics.vocabulary:,} words of the training split",
    ]
    for words in statistics.unknown_words:
        missed = ", ".join(f"{word} ({count})" for word, count in words.most_missed)
        share = words.unknown / max(1, words.words)
        lines.append(
            f"  unknown in {words.split}: {words.unknown:,} of {words.words:,} ({share:.1%}): {missed}"
        )
    return "\n".join(lines)


def step_table(counts: Mapping[str, Mapping[str, float]]) -> str:
    """Baby-Steps per training instruction under each reading of the rules, with the paper's numbers."""
    tasks = list(next(iter(counts.values())))
    rows = [[label, *(f"{of[task]:.2f}" for task in tasks)] for label, of in counts.items()]
    rows.append(["the paper", *(f"{_PAPER_STEPS[task]:.1f}" for task in tasks)])
    return table(["Baby-Steps per instruction", *(task.upper() for task in tasks)], rows)


def _drawn_from(row: TaskStatistics) -> str:
    return _ABSENT if row.draw is None else f"{row.full_instructions:,} ({row.draw})"


def _mean(value: float | None) -> str:
    return _ABSENT if value is None else f"{value:.2f}"


_DATA_ROWS: dict[str, Callable[[TaskStatistics], str]] = {
    "instructions": lambda row: f"{row.instructions:,}",
    "... drawn from": _drawn_from,
    "paths": lambda row: f"{row.paths:,}",
    "words": lambda row: f"{row.words:.2f}",
    "metres": lambda row: _mean(row.metres),
    "viewpoints": lambda row: _mean(row.viewpoints),
    "shortest metres": lambda row: _mean(row.shortest_metres),
}
