"""Results of several agents that walked the same split, from files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from babywalk.common.errors import ConfigError
from babywalk.episodes.joining import TASKS
from babywalk.evaluation.reports import Report, read_reports
from babywalk.evaluation.score_table import mean_over_runs


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """How an agent walked one task."""

    report: Report
    seeds: int = 1  # of several, the report has the means, and for intervals the ranges


@dataclass(frozen=True, slots=True)
class Comparison:
    """Agents that walked the same split."""

    split: str
    unit: str  # of what was walked: whole instructions, or Baby-Steps
    agents: dict[str, dict[str, ComparedRun]] = field(default_factory=dict)  # by label and task

    @property
    def tasks(self) -> list[str]:
        """Those that any agent walked, short ones first."""
        return [task for task in TASKS if any(task in walked for walked in self.agents.values())]


def read_comparison(files: Sequence[Path], names: Sequence[str] = ()) -> Comparison:
    """What 'babywalk evaluate --json' said in some files; `names` are labels, one per file.

    Files of one label are one row: what they say of different tasks is put together.
    """
    if names and len(names) != len(files):
        raise ConfigError(
            f"There are {len(names)} names for {len(files)} files. Give one for each, in their order."
        )
    said = [_agents(read_reports(file)) for file in files]
    first = next(iter(said[0].values()))[0].report
    found = Comparison(first.split, first.unit)
    for index, (file, agents) in enumerate(zip(files, said, strict=True)):
        if names and len(agents) > 1:
            raise ConfigError(f"{file}: one name is not enough for its agents: {', '.join(agents)}.")
        for agent, walked in agents.items():
            row = found.agents.setdefault(names[index] if names else agent, {})
            for one in walked:
                _check_alike(file, one.report, files[0], found)
                if one.report.task in row:
                    raise ConfigError(
                        f"{file}: has {one.report.task} of {agent!r} again. Tell results apart by --name."
                    )
                row[one.report.task] = one
    return found


def _check_alike(file: Path, report: Report, first: Path, found: Comparison) -> None:
    here, there = (f"{of.unit} of {of.split}" for of in (report, found))
    if here != there:
        raise ConfigError(f"{file}: is about {here}, but {first} about {there}. One table takes one of them.")


def _agents(said: Mapping[str, list[Report]]) -> dict[str, list[ComparedRun]]:
    """What a file says by agent; "NAME 0", "NAME 1" and so on are seeds of one."""
    stems = {re.sub(r" \d+$", "", name) for name in said}
    tasks = {tuple(report.task for report in run) for run in said.values()}
    if len(said) == 1 or len(stems) > 1 or len(tasks) > 1:
        return {name: [ComparedRun(report) for report in run] for name, run in said.items()}
    means = [
        replace(reports[0], measures=mean_over_runs([report.measures for report in reports]))
        for reports in zip(*said.values(), strict=True)
    ]
    return {stems.pop(): [ComparedRun(report, len(said)) for report in means]}
