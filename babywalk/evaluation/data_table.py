"""The paper's data table (table 1), with more of what a data set holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from babywalk.common.tables import table
from babywalk.episodes.joining import TASKS
from babywalk.episodes.statistics import Statistics, TaskStatistics

_ABSENT = "-"


def data_table(found: Statistics) -> str:
    """Statistics for people: one column per task, one block per split."""
    by_place = {(row.task, row.split): row for row in found.tasks}
    tasks = [task for task in TASKS if any(row.task == task for row in found.tasks)]
    splits = list(dict.fromkeys(row.split for row in found.tasks))
    rows: list[list[str]] = []
    for split in splits:
        for label, cell in _ROWS.items():
            cells = [cell(by_place[task, split]) if (task, split) in by_place else _ABSENT for task in tasks]
            if set(cells) != {_ABSENT}:
                rows.append([f"{split} {label}", *cells])
        rows.append([""] * (len(tasks) + 1))
    lines = [
        f"{found.houses:,} houses, {found.viewpoints:,} viewpoints",
        "",
        table(["", *(task.upper() for task in tasks)], rows[:-1]),
        "",
        f"Vocabulary: {found.vocabulary:,} words of the training split",
    ]
    for words in found.unknown_words:
        missed = ", ".join(f"{word} ({count})" for word, count in words.most_missed)
        share = words.unknown / max(1, words.words)
        lines.append(
            f"  unknown in {words.split}: {words.unknown:,} of {words.words:,} ({share:.1%}): {missed}"
        )
    return "\n".join(lines)


# Table 1 of the paper.
_PAPER_STEPS = {"r2r": 1.8, "r4r": 3.6, "r6r": 5.6, "r8r": 7.4}


def step_table(counts: Mapping[str, Mapping[str, float]]) -> str:
    """Baby-Steps per training instruction under each reading of the rules, beside the paper's."""
    tasks = list(next(iter(counts.values())))
    rows = [[label, *(f"{of[task]:.2f}" for task in tasks)] for label, of in counts.items()]
    rows.append(["the paper", *(f"{_PAPER_STEPS[task]:.1f}" for task in tasks)])
    return table(["Baby-Steps per instruction", *(task.upper() for task in tasks)], rows)


def _thinned(row: TaskStatistics) -> str:
    return _ABSENT if row.full_instructions == row.instructions else f"{row.full_instructions:,}"


def _mean(value: float | None) -> str:
    return _ABSENT if value is None else f"{value:.2f}"


_ROWS: dict[str, Callable[[TaskStatistics], str]] = {
    "instructions": lambda row: f"{row.instructions:,}",
    "... drawn from": _thinned,
    "paths": lambda row: f"{row.paths:,}",
    "words": lambda row: f"{row.words:.2f}",
    "metres": lambda row: _mean(row.metres),
    "viewpoints": lambda row: _mean(row.viewpoints),
    "shortest metres": lambda row: _mean(row.shortest_metres),
}
