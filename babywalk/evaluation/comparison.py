"""Results of several agents on the same split in one table, optionally with the paper's agents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from babywalk.common.errors import ConfigError, unknown
from babywalk.common.tables import markdown, table
from babywalk.episodes.joining import TASKS
from babywalk.evaluation.paper import SPLIT, paper_rows
from babywalk.evaluation.report import KNOWN_MAP, Report, read_reports
from babywalk.evaluation.tables import METRES, format_interval, format_measure, mean_over_runs
from babywalk.navigation.measures import MEASURES

_INTERVAL = "95 %"  # the column to the right of SDTW
_ABSENT = "-"

_Cells = dict[str, dict[str, str]]  # of a row, by task and column


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """The report of an agent on one task, over one or more seeds."""

    report: Report
    seeds: int = 1  # of several seeds, the report has the means, and as intervals their ranges


@dataclass(frozen=True, slots=True)
class Comparison:
    """Agents evaluated on the same split."""

    split: str
    unit: str  # "instructions" or "Baby-Steps"
    agents: dict[str, dict[str, ComparedRun]] = field(default_factory=dict)  # by label and task
    known_map: bool = False  # whether the agents had the maps of the houses

    @property
    def tasks(self) -> list[str]:
        """The tasks of all agents, the shortest first."""
        return [task for task in TASKS if any(task in runs for runs in self.agents.values())]


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns and rows a comparison table has, and its format."""

    measures: tuple[str, ...] = ("SR", "CLS", "nDTW", "SDTW")
    paper: str | None = None  # add the paper's agents that were trained on this task
    intervals: bool = False  # of SDTW
    markdown: bool = False

    def __post_init__(self) -> None:
        for name in self.measures:
            if name not in MEASURES:
                raise unknown("Measure", name, MEASURES)
        if self.paper is not None and self.paper not in TASKS:
            raise unknown("Task", self.paper, TASKS)
        if self.intervals and "SDTW" not in self.measures:
            raise ConfigError("Intervals are those of SDTW. Add SDTW to the measures.")

    @property
    def columns(self) -> list[str]:
        """The columns of each task."""
        names = list(self.measures)
        if self.intervals:
            names.insert(names.index("SDTW") + 1, _INTERVAL)
        return names


def read_comparison(files: Sequence[Path], names: Sequence[str] = ()) -> Comparison:
    """Read outputs of 'babywalk evaluate --json'; `names` are labels, one per file.

    Files with the same label form one row, and must be about different tasks.
    """
    if names and len(names) != len(files):
        raise ConfigError(
            f"There are {len(names)} names for {len(files)} files. Give one name per file, in the same order."
        )
    contents = [_by_agent(read_reports(file)) for file in files]
    first = next(iter(contents[0].values()))[0].report
    comparison = Comparison(first.split, first.unit, known_map=first.known_map)
    for index, (file, agents) in enumerate(zip(files, contents, strict=True)):
        if names and len(agents) > 1:
            raise ConfigError(f"{file}: one name is given for several agents: {', '.join(agents)}.")
        for agent, runs in agents.items():
            row = comparison.agents.setdefault(names[index] if names else agent, {})
            for run in runs:
                _check_comparable(file, run.report, files[0], comparison)
                if run.report.task in row:
                    raise ConfigError(
                        f"{file}: has a second result of {agent!r} on {run.report.task}. "
                        "Give each file its own label with --name."
                    )
                row[run.report.task] = run
    return comparison


def comparison_table(comparison: Comparison, layout: Layout) -> str:
    """The table, followed by notes on what it shows."""
    if layout.paper and (comparison.split, comparison.unit) != (SPLIT, "instructions"):
        raise ConfigError(
            f"The paper's results are on instructions of {SPLIT}, these are on {comparison.unit} of "
            f"{comparison.split}. Leave out --paper, or give results on {SPLIT}."
        )
    if layout.paper and comparison.known_map:
        raise ConfigError(
            "The paper's agents did not have the map of the house, these did. Leave out --paper, or leave "
            "known_map out of --decode."
        )
    if "SPL" in layout.measures and len(_spl_rules(comparison)) > 1:
        raise ConfigError(
            "The results differ in the SPL of paths that end at their start. Give all of them the same "
            "--spl-start-is-goal, or leave SPL out of --measures."
        )
    measured = {label: _measured_cells(runs) for label, runs in comparison.agents.items()}
    printed = _paper_cells(layout.paper, comparison.tasks) if layout.paper else {}
    render, separator = (_markdown_table, " ") if layout.markdown else (_text_table, "\n")
    notes = separator.join(_notes(comparison, layout))
    return f"{render(comparison.tasks, layout.columns, measured, printed)}\n\n{notes}"


def _check_comparable(file: Path, report: Report, first: Path, comparison: Comparison) -> None:
    here, there = (f"{of.unit} of {of.split}" for of in (report, comparison))
    if here != there:
        raise ConfigError(
            f"{file}: is about {here}, but {first} about {there}. Compare results on the same split and unit."
        )
    if report.known_map != comparison.known_map:
        one, other = (file, first) if report.known_map else (first, file)
        raise ConfigError(
            f"{one}: is of an agent that had the map of the house, {other} of one that walked all it looked "
            "at. Compare results of the same kind: leave known_map out of --decode, or give it to both."
        )


def _by_agent(reports: Mapping[str, list[Report]]) -> dict[str, list[ComparedRun]]:
    """The contents of a file by agent; "NAME 0", "NAME 1" and so on are seeds of one agent."""
    stems = {re.sub(r" \d+$", "", name) for name in reports}
    tasks = {tuple(report.task for report in run) for run in reports.values()}
    if len(reports) == 1 or len(stems) > 1 or len(tasks) > 1:
        return {name: [ComparedRun(report) for report in run] for name, run in reports.items()}
    means = [
        replace(seeds[0], measures=mean_over_runs([report.measures for report in seeds]))
        for seeds in zip(*reports.values(), strict=True)
    ]
    return {stems.pop(): [ComparedRun(report, len(reports)) for report in means]}


def _measured_cells(runs: Mapping[str, ComparedRun]) -> _Cells:
    return {
        task: {
            **{name: format_measure(name, value.mean) for name, value in run.report.measures.items()},
            _INTERVAL: format_interval("SDTW", run.report.measures["SDTW"]),
        }
        for task, run in runs.items()
    }


def _paper_cells(trained_on: str, tasks: list[str]) -> dict[str, _Cells]:
    """The paper's agents on these tasks, as printed."""
    agents: dict[str, _Cells] = {}
    for row in paper_rows("agents", trained_on):
        if row.task in tasks:
            cells = {name: str(value) for name, value in row.measures.items()}
            agents.setdefault(f"{row.agent} (paper)", {})[row.task] = cells
    return agents


def _text_table(
    tasks: list[str], columns: list[str], measured: dict[str, _Cells], printed: dict[str, _Cells]
) -> str:
    # An empty column separates tasks.
    groups = [cell for task in tasks for cell in ("", task.upper(), *[""] * (len(columns) - 1))][1:]
    names = [cell for _ in tasks for cell in ("", *columns)][1:]
    rows = [
        [label, *[cell for task in tasks for cell in ("", *_row_cells(cells, task, columns))][1:]]
        for label, cells in (*measured.items(), *printed.items())
    ]
    lines = table(["", *groups], [["", *names], *rows]).splitlines()
    if printed:
        lines.insert(2 + len(measured), "-" * max(map(len, lines)))
    return "\n".join(lines)


def _markdown_table(
    tasks: list[str], columns: list[str], measured: dict[str, _Cells], printed: dict[str, _Cells]
) -> str:
    header = [f"{task.upper()} {name}" for task in tasks for name in columns]
    rows = [
        [label, *[cell for task in tasks for cell in _row_cells(cells, task, columns)]]
        for label, cells in (*measured.items(), *printed.items())
    ]
    return markdown(["", *header], rows)


def _row_cells(cells: _Cells, task: str, columns: list[str]) -> list[str]:
    return [cells.get(task, {}).get(name, _ABSENT) for name in columns]


def _notes(comparison: Comparison, layout: Layout) -> Iterator[str]:
    counts = ", ".join(f"{task.upper()} {_episode_counts(comparison, task)}" for task in comparison.tasks)
    metres = [name for name in layout.measures if name in METRES]
    units = f"{' and '.join(metres)} in metres, the rest in percent" if metres else "In percent"
    yield f"{comparison.unit[0].upper()}{comparison.unit[1:]} of {comparison.split}: {counts}. {units}."
    for label, runs in comparison.agents.items():
        seeds = max(run.seeds for run in runs.values())
        if seeds > 1:
            ranges = f", with their range under {_INTERVAL}" if layout.intervals else ""
            yield f"{label}: the mean of {seeds} seeds{ranges}."
    if layout.intervals:
        yield f"{_INTERVAL}: the interval of SDTW."
    if "SPL" in layout.measures and "zero" in _spl_rules(comparison):
        yield "SPL is 0 where a reference path ends at its start."
    if comparison.known_map:
        yield KNOWN_MAP
    if layout.paper:
        yield (
            f"(paper): as printed by Zhu et al. (2020), trained on {layout.paper.upper()} with ResNet-152 "
            "features of photographs; + is pre-training with augmented data."
        )


def _spl_rules(comparison: Comparison) -> set[str]:
    return {run.report.spl_start_is_goal for runs in comparison.agents.values() for run in runs.values()}


def _episode_counts(comparison: Comparison, task: str) -> str:
    """The number of episodes of a task, by agent where agents differ."""
    counts = {label: runs[task].report.episodes for label, runs in comparison.agents.items() if task in runs}
    if len(set(counts.values())) == 1:
        return f"{next(iter(counts.values())):,}"
    return "(" + ", ".join(f"{label} {count:,}" for label, count in counts.items()) + ")"
