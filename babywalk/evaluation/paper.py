"""The results that the paper prints, as data; all are on val_unseen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from babywalk.common.files import read_toml

SPLIT = "val_unseen"
_TABLES = Path(__file__).parent / "paper.toml"


@dataclass(frozen=True, slots=True)
class PaperRow:
    """The result of one agent, or one variant of BABYWALK, on one task."""

    experiment: str  # agents, curriculum, segmentation, memory, or published (by other papers)
    agent: str  # as the paper names it, or the variant
    trained_on: str  # task
    task: str  # evaluated on; "others" is the mean over the tasks it was not trained on
    measures: dict[str, float]  # those printed: PL and NE in metres, the rest in percent


def paper_rows(experiment: str | None = None, trained_on: str | None = None) -> list[PaperRow]:
    """The rows of all tables, or of one experiment, or of agents trained on one task."""
    tables = read_toml(_TABLES)
    names = tables.pop("measures")
    rows = [
        PaperRow(kind, agent, trained, task, _printed(names, values))
        for kind, by_training in tables.items()
        for trained, by_task in by_training.items()
        for task, agents in by_task.items()
        for agent, values in agents.items()
    ]
    return [
        row for row in rows if experiment in (None, row.experiment) and trained_on in (None, row.trained_on)
    ]


def _printed(names: list[str], values: list[float]) -> dict[str, float]:
    return {name: value for name, value in zip(names, values, strict=True) if not math.isnan(value)}
