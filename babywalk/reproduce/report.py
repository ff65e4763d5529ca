"""The report of experiments: one self-contained page, and tables as Markdown and LaTeX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from babywalk.assets.data_directory import WALKS, read_manifest
from babywalk.common.errors import ConfigError
from babywalk.common.files import write_json, write_text
from babywalk.episodes.joining import DRAW
from babywalk.evaluation.paper import SPLIT
from babywalk.evaluation.tables import METRES
from babywalk.reproduce.experiment import Experiment, uses_augmented
from babywalk.reproduce.figures import svg
from babywalk.reproduce.graph import Cell, Graph, Place
from babywalk.reproduce.outcome import Evaluations, Outcome, outcome
from babywalk.reproduce.stage import Stage, failure_file, finished, log_file, shown, state
from babywalk.reproduce.tables import latex_tables, markdown_tables, order_notes, shown_tables

_TEMPLATE = "report.html.jinja"
_LOG_LINES = 20  # shown of a failed stage


@dataclass(frozen=True, slots=True)
class StageRow:
    """A stage as the page shows it."""

    name: str
    state: str
    minutes: float | None
    commands: tuple[str, ...]
    adopted: str
    reason: str
    log: str  # the last lines, of a failed stage


def write_report(
    place: Place, chosen: Mapping[str, Experiment], graphs: Sequence[Graph], seeds: int, command: str
) -> Path:
    """Write report.html, and tables/NAME.md, .tex and .json, of what is finished; returns the page."""
    evaluations = Evaluations(place)
    cells = {name: some for graph in graphs for name, some in graph.cells.items()}
    stages = {name: stage for graph in graphs for name, stage in graph.stages.items()}
    sections = []
    for name, experiment in chosen.items():
        found = outcome(experiment, cells[name], evaluations)
        remarks = [*notes(place, experiment), *order_notes(found)]
        if experiment.table.agents:
            _write_tables(place.folder / "tables", name, found, remarks)
            write_json(
                place.folder / "tables" / f"{name}.json", table_data(experiment, cells[name], evaluations)
            )
        sections.append(
            {
                "name": name,
                "title": experiment.title,
                "label": experiment.table.label,
                "reference": experiment.reference,
                "figure": svg(experiment, cells[name], evaluations),
                "tables": shown_tables(found) if experiment.table.agents else [],
                "notes": remarks,
                "finished": sum(state(place.folder, cell.stage) == "finished" for cell in cells[name]),
                "cells": len(cells[name]),
                "unfinished": sorted(_unfinished(place.folder, cells[name], stages)),
            }
        )
    rows = [_stage_row(place.folder, stage) for stage in stages.values()]
    found_versions = {
        f"{name} {version}"
        for stage in stages.values()
        if (record := finished(place.folder, stage))
        for name, version in record.versions.items()
    }
    facts = {
        "scale": place.scale.name,
        "split": place.scale.split,
        "seeds": seeds,
        "hours": sum(row.minutes or 0.0 for row in rows) / 60,
        "command": command,
        "versions": sorted(found_versions),
    }
    page = place.folder / "report.html"
    write_text(page, _rendered({"sections": sections, "stages": rows, **facts}))
    return page


def table_data(experiment: Experiment, cells: Sequence[Cell], evaluations: Evaluations) -> dict[str, Any]:
    """The measures of every row, seed and task, in percent or metres: the data of a generated table of docs.

    Rows are named by their agents, or, where rows share one, as in the table.
    """
    agents = Counter(experiment.rows[row].agent for row in experiment.table.agents)
    trained = dict.fromkeys(cell.trained_on for cell in cells)
    rows: list[list[Any]] = []
    for cell in cells:
        evaluation = evaluations(cell)
        if evaluation is None:
            continue
        agent = experiment.rows[cell.row].agent
        name = agent if agents[agent] == 1 else cell.row
        means = evaluation.scores.means()
        values = [
            round(means[key] if key in METRES else 100 * means[key], 2) for key in experiment.table.measures
        ]
        task = [cell.trained_on.upper()] if len(trained) > 1 else []
        rows.append([name, cell.seed, *task, cell.task.upper(), *values])
    return {
        "measured": f"{date.today():%B %Y}",
        "draw": DRAW,
        "seeds": ", ".join(str(seed) for seed in sorted({row[1] for row in rows})),
        "split": evaluations.place.scale.split,
        "commands": "reproduce.md",
        "columns": [
            *("agent", "seed"),
            *(["trained on"] if len(trained) > 1 else []),
            *("task", *experiment.table.measures),
        ],
        "rows": rows,
    }


def notes(place: Place, experiment: Experiment) -> Iterator[str]:
    """Why the numbers are not like with like with the paper's."""
    about = read_manifest(place.data / WALKS)
    if any("Dollhouse" in note for note in about.strings("notes")):
        yield "Other data: the houses and instructions of the Dollhouse, not those of the paper."
    yield (
        "The paper's agents saw ResNet-152 features of photographs. Unless these did too, compare orders and "
        "differences, not single numbers."
    )
    if place.scale.split != SPLIT:
        yield f"Evaluated on {place.scale.split}; the paper on all of {SPLIT}."
    if place.scale.preset != "paper" or place.scale.recipes:
        yield "Smaller networks and shorter training than the paper's."
    if any(uses_augmented(row.agent) for row in experiment.rows.values()):
        yield "The augmented data (+) are of this package's speaker."
    if any(row.settings.get("policy", {}).get("steps") == "sentence" for row in experiment.rows.values()):
        yield (
            "Steps of the six rules are aligned with paths by a learned model, whole sentences in proportion "
            "to their length: the rows differ in that too."
        )


def _write_tables(folder: Path, name: str, found: Outcome, remarks: Sequence[str]) -> None:
    text = "\n".join(f"- {remark}" for remark in remarks)
    write_text(folder / f"{name}.md", f"# {found.experiment.title}\n\n{markdown_tables(found)}\n\n{text}\n")
    write_text(folder / f"{name}.tex", latex_tables(found))


def _unfinished(folder: Path, cells: Sequence[Cell], stages: Mapping[str, Stage]) -> set[str]:
    """The failed stages of a table's cells, and how many others are to do."""
    states = {stage.name: state(folder, stage) for cell in cells for stage in (cell.training, cell.stage)}
    failed = {f"failed: {name}" for name, found in states.items() if found == "failed" and name in stages}
    due = sum(found in ("to do", "running") for found in states.values())
    return failed | ({f"{due} stages to do"} if due else set())


def _stage_row(folder: Path, stage: Stage) -> StageRow:
    found, record = state(folder, stage), finished(folder, stage)
    log, failure = log_file(folder, stage), failure_file(folder, stage)
    failed = found == "failed"
    lines = log.read_text(errors="replace").splitlines()[-_LOG_LINES:] if failed and log.exists() else []
    return StageRow(
        name=stage.name,
        state=found,
        minutes=record.minutes if record else None,
        commands=tuple(shown(command) for command in (record.commands if record else stage.commands)),
        adopted=record.adopted if record else "",
        reason=failure.read_text().splitlines()[0] if failed else "",
        log="\n".join(lines),
    )


def _rendered(content: Mapping[str, Any]) -> str:
    try:
        import jinja2
    except ModuleNotFoundError:
        raise ConfigError(
            "The report needs Jinja2. Install it with: pip install 'babywalk[reproduce]'."
        ) from None
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(_TEMPLATE).render(content)
