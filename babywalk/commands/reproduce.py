"""Make the tables of the paper anew: train and evaluate what they need, and write a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import babywalk.common.needs_torch  # noqa: F401
from babywalk.common.errors import ConfigError, unknown
from babywalk.common.files import check_folder
from babywalk.common.tables import format_bytes, table
from babywalk.reproduce.experiment import Experiment, experiments, scale
from babywalk.reproduce.graph import Graph, Place, experiment_graph, preparation, record_adopted
from babywalk.reproduce.report import write_report
from babywalk.reproduce.scheduler import run_stages
from babywalk.reproduce.stage import KINDS, Stage, failure_file, finished, is_finished, log_file, state

_EVERYTHING = "all"


@dataclass(frozen=True, slots=True)
class Plan:
    """The stages of experiments, and how far they are."""

    place: Place
    experiments: Mapping[str, Experiment]
    seeds: int
    data: Graph  # the stages that prepare the data
    graph: Graph  # agents and evaluations; provisional until the data are prepared

    @property
    def stages(self) -> list[Stage]:
        """All stages, each after those it needs."""
        return [*self.data.stages.values(), *self.graph.stages.values()]


def list_experiments() -> str:
    """The experiments that can be reproduced, as a table."""
    rows = [
        [name, each.title, each.table.label, f"{len(each.table.agents)} x {len(each.table.columns)}"]
        for name, each in experiments().items()
    ]
    return table(["name", "what", "table of the paper", "rows x columns"], rows)


def plan_experiments(
    names: Sequence[str],
    folder: Path,
    *,
    data: Path | None = None,
    size: str = "quick",
    seeds: int = 1,
    split: str | None = None,
    recipes: Path | None = None,
    adopt: Sequence[Path] = (),
    houses: int = 30,
) -> Plan:
    """The stages of experiments; `names` may contain "all".

    Without `data`, the Dollhouse is built in the folder. `size` is a scale; `split` is evaluated on instead
    of the scale's, and `recipes` (AGENT.toml) are used instead of its preset. `adopt` are folders of runs:
    those with the settings of a cell are used for it.
    """
    check_folder(folder, "Give --folder a folder.")
    if data is not None and not data.is_dir():
        raise ConfigError(f"{data}: is not a data directory. Leave --data out to build the Dollhouse.")
    known = experiments()
    wanted = list(known) if _EVERYTHING in names else list(dict.fromkeys(names))
    for name in wanted:
        if name not in known:
            raise unknown("Experiment", name, [*known, _EVERYTHING])
    folder = folder.resolve()
    place = Place(
        folder=folder,
        data=data.resolve() if data else folder / "data",
        built_in=data is None,
        scale=scale(size, split=split, recipes=recipes),
        houses=houses,
        adopt=tuple(adopt),
    )
    return planned(place, {name: known[name] for name in wanted}, seeds)


def planned(place: Place, chosen: Mapping[str, Experiment], seeds: int) -> Plan:
    """The plan of experiments in a place."""
    data = preparation(place, chosen.values())
    graph = experiment_graph(place, chosen, seeds)
    return Plan(place, chosen, seeds, data, graph)


def reproduce(
    plan: Plan, *, executor: str = "local", jobs: int = 2, slurm: Mapping[str, Any] | None = None
) -> Plan:
    """Run all stages of a plan that are not finished; returns the plan with the data as they are then."""
    folder = plan.place.folder
    folder.mkdir(parents=True, exist_ok=True)
    if run_stages(folder, plan.data.stages.values(), executor=executor, jobs=1, slurm=slurm):
        return plan
    plan = planned(plan.place, plan.experiments, plan.seeds)
    record_adopted(folder, plan.graph)
    run_stages(folder, plan.graph.stages.values(), executor=executor, jobs=jobs, slurm=slurm)
    return plan


def report(plan: Plan, command: str = "babywalk reproduce") -> Path | None:
    """Write the report of what is finished; returns its page, or None if the data are not prepared."""
    folder = plan.place.folder
    if not all(is_finished(folder, stage) for stage in plan.data.stages.values()):
        return None
    return write_report(plan.place, plan.experiments, [plan.data, plan.graph], plan.seeds, command)


def plan_text(plan: Plan) -> Iterator[str]:
    """The stages by kind, with estimates for those that are not finished."""
    rows, minutes, megabytes = [], 0.0, 0.0
    rates = _measured_rates(plan)
    for kind in KINDS:
        stages = [stage for stage in plan.stages if stage.kind == kind]
        due = [stage for stage in stages if not _is_done(plan, stage)]
        hours = sum(_minutes(stage, rates) for stage in due) / 60
        disk = sum(stage.megabytes for stage in due)
        rows.append([kind, str(len(stages)), str(len(stages) - len(due)), f"{hours:.1f}", f"{disk:.0f}"])
        minutes, megabytes = minutes + 60 * hours, megabytes + disk
    yield table(["stages", "all", "finished or adopted", "hours of one core to do", "MB"], rows)
    yield ""
    cells = [[name, str(len(cells))] for name, cells in plan.graph.cells.items()]
    yield table(["experiment", "cells"], cells)
    measured = "the finished runs here" if rates else "one core of another machine"
    yield (
        f"\nTo do: {minutes / 60:.1f} hours of one core by the rates of {measured}, "
        f"{format_bytes(1e6 * megabytes)}; seeds 0 to {plan.seeds - 1}."
    )


def status_text(plan: Plan) -> Iterator[str]:
    """How many stages are in each state, and the failed ones with their reasons and logs."""
    folder = plan.place.folder
    states = {stage.name: state(folder, stage) for stage in plan.stages}
    columns = ("finished", "running", "failed", "to do")
    rows = []
    for kind in KINDS:
        counts = Counter(states[stage.name] for stage in plan.stages if stage.kind == kind)
        rows.append([kind, *(str(counts[column]) for column in columns)])
    yield table(["stages", *columns], rows)
    for stage in plan.stages:
        if states[stage.name] == "running":
            yield f"running: {stage.name}, log in {log_file(folder, stage)}"
    for stage in plan.stages:
        if states[stage.name] == "failed":
            yield f"failed: {stage.name}: {failure_file(folder, stage).read_text().strip()}"


def is_complete(plan: Plan) -> bool:
    """Whether every stage is finished."""
    return all(is_finished(plan.place.folder, stage) for stage in plan.stages)


def _is_done(plan: Plan, stage: Stage) -> bool:
    """Whether a stage is finished, or a run that is adopted."""
    return is_finished(plan.place.folder, stage) or not stage.commands


def _measured_rates(plan: Plan) -> dict[str, float]:
    """Minutes per iteration of each agent, from the runs that finished in the folder."""
    totals: dict[str, list[float]] = {}
    for stage in plan.graph.stages.values():
        record = finished(plan.place.folder, stage) if stage.kind == "agent" else None
        if record is not None and record.minutes and record.iterations:
            total = totals.setdefault(stage.agent, [0.0, 0.0])
            total[0] += record.minutes
            total[1] += record.iterations
    return {agent: minutes / iterations for agent, (minutes, iterations) in totals.items()}


def _minutes(stage: Stage, rates: Mapping[str, float]) -> float:
    if stage.kind == "agent" and stage.agent in rates:
        return rates[stage.agent] * stage.iterations
    return stage.minutes
