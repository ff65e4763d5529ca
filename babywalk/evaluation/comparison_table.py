"""A comparison as one table: a row per agent, a group of columns per task, the paper's agents below."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from babywalk.common.errors import ConfigError, unknown
from babywalk.common.tables import markdown, table
from babywalk.episodes.joining import TASKS
from babywalk.evaluation.comparison import ComparedRun, Comparison
from babywalk.evaluation.paper import SPLIT, paper_rows
from babywalk.evaluation.score_table import METRES, interval_text, number
from babywalk.navigation.measures import MEASURES

_INTERVAL = "95 %"  # a column beside that of SDTW
_NOTHING = "-"

# What a row shows, by task and column.
_Cells = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class Layout:
    """What of a comparison is shown, and how."""

    measures: tuple[str, ...] = ("SR", "CLS", "nDTW", "SDTW")
    paper: str | None = None  # show the paper's agents that were trained on this task
    intervals: bool = False  # of SDTW
    markdown: bool = False

    def __post_init__(self) -> None:
        for name in self.measures:
            if name not in MEASURES:
                raise unknown("Measure", name, MEASURES)
        if self.paper is not None and self.paper not in TASKS:
            raise unknown("Task", self.paper, TASKS)
        if self.intervals and "SDTW" not in self.measures:
            raise ConfigError("The intervals are those of SDTW. Have it among the measures.")

    @property
    def columns(self) -> list[str]:
        """Of each task."""
        names = list(self.measures)
        if self.intervals:
            names.insert(names.index("SDTW") + 1, _INTERVAL)
        return names


def comparison_table(found: Comparison, layout: Layout) -> str:
    """The table, and under it what it is about."""
    if layout.paper and (found.split, found.unit) != (SPLIT, "instructions"):
        raise ConfigError(
            f"The paper is about instructions of {SPLIT}, these results are about {found.unit} of "
            f"{found.split}: they cannot stand in one table."
        )
    ours = {label: _measured(walked) for label, walked in found.agents.items()}
    theirs = _printed(layout.paper, found.tasks) if layout.paper else {}
    draw, between = (_markdown, " ") if layout.markdown else (_text, "\n")
    return f"{draw(found.tasks, layout.columns, ours, theirs)}\n\n{between.join(_notes(found, layout))}"


def _measured(walked: Mapping[str, ComparedRun]) -> _Cells:
    return {
        task: {
            **{name: number(name, measured.mean) for name, measured in one.report.measures.items()},
            _INTERVAL: interval_text("SDTW", one.report.measures["SDTW"]),
        }
        for task, one in walked.items()
    }


def _printed(trained_on: str, tasks: list[str]) -> dict[str, _Cells]:
    """The paper's agents, as far as it has them on these tasks."""
    agents: dict[str, _Cells] = {}
    for row in paper_rows("agents", trained_on):
        if row.task in tasks:
            shown = {name: str(value) for name, value in row.measures.items()}
            agents.setdefault(f"{row.agent} (paper)", {})[row.task] = shown
    return agents


def _text(tasks: list[str], columns: list[str], ours: dict[str, _Cells], theirs: dict[str, _Cells]) -> str:
    # A column without anything in it keeps tasks apart.
    groups = [cell for task in tasks for cell in ("", task.upper(), *[""] * (len(columns) - 1))][1:]
    names = [cell for _ in tasks for cell in ("", *columns)][1:]
    rows = [
        [label, *[cell for task in tasks for cell in ("", *_cells(shown, task, columns))][1:]]
        for label, shown in (*ours.items(), *theirs.items())
    ]
    lines = table(["", *groups], [["", *names], *rows]).splitlines()
    if theirs:
        lines.insert(2 + len(ours), "-" * max(map(len, lines)))
    return "\n".join(lines)


def _markdown(
    tasks: list[str], columns: list[str], ours: dict[str, _Cells], theirs: dict[str, _Cells]
) -> str:
    header = [f"{task.upper()} {name}" for task in tasks for name in columns]
    rows = [
        [label, *[cell for task in tasks for cell in _cells(shown, task, columns)]]
        for label, shown in (*ours.items(), *theirs.items())
    ]
    return markdown(["", *header], rows)


def _cells(shown: _Cells, task: str, columns: list[str]) -> list[str]:
    return [shown.get(task, {}).get(name, _NOTHING) for name in columns]


def _notes(found: Comparison, layout: Layout) -> Iterator[str]:
    counts = ", ".join(f"{task.upper()} {_counts(found, task)}" for task in found.tasks)
    metres = [name for name in layout.measures if name in METRES]
    units = f"{' and '.join(metres)} in metres, the rest in percent" if metres else "In percent"
    yield f"{found.unit[0].upper()}{found.unit[1:]} of {found.split}: {counts}. {units}."
    for label, walked in found.agents.items():
        seeds = max(one.seeds for one in walked.values())
        if seeds > 1:
            ranges = f", and for {_INTERVAL} their range" if layout.intervals else ""
            yield f"{label}: the mean of {seeds} seeds{ranges}."
    if layout.intervals:
        yield f"{_INTERVAL}: the interval of SDTW."
    if layout.paper:
        yield (
            f"(paper): as printed by Zhu et al. (2020), trained on {layout.paper.upper()}, seeing ResNet-152 "
            "features of photographs; + is pre-training with augmented data."
        )


def _counts(found: Comparison, task: str) -> str:
    """How many were walked, and by whom where that differs."""
    walked = {label: one[task].report.episodes for label, one in found.agents.items() if task in one}
    if len(set(walked.values())) == 1:
        return f"{next(iter(walked.values())):,}"
    return "not as many by all (" + ", ".join(f"{count:,} {label}" for label, count in walked.items()) + ")"
