"""The results that the paper prints, as data; all are on val_unseen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from babywalk.common.config import from_table
from babywalk.common.errors import unknown
from babywalk.common.files import read_toml

SPLIT = "val_unseen"
OTHERS, ALL = "others", "all"  # means over tasks, where a task is expected
_FILE = Path(__file__).parent / "paper.toml"


@dataclass(frozen=True, slots=True)
class PaperRow:
    """The result of one agent, or one variant of BABYWALK, on one task."""

    experiment: str  # agents, curriculum, segmentation, memory, or published (by other papers)
    agent: str  # as the paper names it, or the variant
    trained_on: str  # task
    task: str  # evaluated on; "others" is the mean over the tasks it was not trained on, "all" over the four
    measures: dict[str, float]  # those printed: PL and NE in metres, the rest in percent


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One printed table: which rows and columns it has, and their figures."""

    label: str  # in the paper's source
    title: str
    experiment: str
    agents: tuple[str, ...]
    columns: tuple[str, ...]  # "trained on>evaluated on"
    measures: tuple[str, ...]  # of each column
    prints: dict[str, dict[str, dict[str, float]]]  # by agent, column and measure

    def figure(self, agent: str, column: str, measure: str) -> float | None:
        """A figure as printed; None if there is none."""
        return self.prints.get(agent, {}).get(column, {}).get(measure)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The entry of a table in the file; without agents or measures, it has those of its rows."""

    label: str
    title: str
    experiment: str
    columns: tuple[str, ...]
    agents: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    prints: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)


def paper_rows(experiment: str | None = None, trained_on: str | None = None) -> list[PaperRow]:
    """The rows of all tables, or of one experiment, or of agents trained on one task."""
    file = read_toml(_FILE)
    names = file.pop("measures")
    del file["tables"], file["data"]
    rows = [
        PaperRow(kind, agent, trained, task, _printed(names, values))
        for kind, by_training in file.items()
        for trained, by_task in by_training.items()
        for task, agents in by_task.items()
        for agent, values in agents.items()
    ]
    return [
        row for row in rows if experiment in (None, row.experiment) and trained_on in (None, row.trained_on)
    ]


def paper_tables() -> dict[str, PaperTable]:
    """Every table of results that the paper and its appendix print, by name."""
    file = read_toml(_FILE)
    found: dict[str, PaperTable] = {}
    for name, entry in file["tables"].items():
        layout = from_table(_Layout, entry, where=f"{_FILE}: tables.{name}")
        found[name] = _filled(layout, file["measures"], file[layout.experiment])
    return found


def paper_table(name: str) -> PaperTable:
    """A table by its name."""
    found = paper_tables()
    if name not in found:
        raise unknown("Table of the paper", name, found)
    return found[name]


def paper_data() -> dict[str, dict[str, float]]:
    """The table of data sets: numbers of instructions and mean lengths, by task."""
    numbers: dict[str, list[Any]] = read_toml(_FILE)["data"]
    tasks = numbers.pop("tasks")
    return {name: dict(zip(tasks, values, strict=True)) for name, values in numbers.items()}


def _filled(layout: _Layout, names: list[str], experiment: Mapping[str, Any]) -> PaperTable:
    measures = layout.measures or tuple(names)
    rows: dict[str, dict[str, dict[str, float]]] = {}
    for column in layout.columns:
        trained_on, _, task = column.partition(">")
        for agent, values in experiment[trained_on][task].items():
            if agent in layout.agents or not layout.agents:
                corrected = layout.prints.get(agent, {}).get(column, {})
                figures = _printed(names, values) | corrected
                kept = {measure: figures[measure] for measure in measures if measure in figures}
                rows.setdefault(agent, {})[column] = kept
    agents = layout.agents or tuple(rows)
    return PaperTable(layout.label, layout.title, layout.experiment, agents, layout.columns, measures, rows)


def _printed(names: list[str], values: list[float]) -> dict[str, float]:
    return {name: value for name, value in zip(names, values, strict=True) if not math.isnan(value)}
