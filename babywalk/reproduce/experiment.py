"""Experiments as data: a table of the paper, the rows that are trained for it, and its size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from babywalk.agents.recipe import Recipe, read_recipe
from babywalk.agents.table import AGENTS
from babywalk.common.config import from_table, merged
from babywalk.common.errors import ConfigError, unknown
from babywalk.common.files import read_toml
from babywalk.episodes.joining import TASKS
from babywalk.evaluation.paper import PaperTable, paper_table
from babywalk.training.config import TrainingConfig

_FOLDER = Path(__file__).parent
_LAST = ""  # the model of the last stage


@dataclass(frozen=True, slots=True)
class Row:
    """What is trained for a row of a table, and which of its models is evaluated."""

    agent: str
    settings: dict[str, Any] = field(default_factory=dict)  # over those of the scale or recipe
    parent: str = ""  # the row whose model the training starts from; empty for none
    model: str = _LAST  # the stage whose model is evaluated; empty for the last

    def __post_init__(self) -> None:
        if self.agent not in AGENTS:
            raise unknown("agent", self.agent, AGENTS)


@dataclass(frozen=True, slots=True)
class Experiment:
    """One table of the paper, with the rows to train."""

    name: str
    title: str
    table: PaperTable
    reference: str  # the row that the others are compared with
    rows: Mapping[str, Row]  # of every agent of the table, and the rows these start from
    reported: PaperTable | None  # what other papers report for the same rows
    figure: str = ""  # drawn of its numbers: see `figures`; empty for a table

    def tasks(self, column: str) -> tuple[str, tuple[str, ...]]:
        """The task that a column's agents are trained on, and those it shows the mean of."""
        trained_on, _, task = column.partition(">")
        if task == "all":
            return trained_on, tuple(TASKS)
        if task == "others":
            return trained_on, tuple(other for other in TASKS if other != trained_on)
        return trained_on, (task,)


@dataclass(frozen=True, slots=True)
class Scale:
    """How large the runs of an experiment are, and what they are evaluated on."""

    name: str
    preset: str
    split: str
    augmented: int  # iterations on augmented data
    whole: int  # iterations of reinforcement learning on whole instructions
    walks: int  # in the augmented split
    seconds: dict[str, float]  # of an iteration of imitation, and of reinforcement learning
    megabytes: float  # of a run
    evaluation_minutes: float  # of a model on a task
    settings: dict[str, Any] = field(default_factory=dict)
    recipes: Path | None = None  # a folder of recipes AGENT.toml, instead of the preset

    def config(self, row: Row, task: str, seed: int, features: str) -> TrainingConfig:
        """The settings of a row's run, without the model it starts from."""
        own: dict[str, Any] = {"task": task, "seed": seed, "init_from": "", **row.settings}
        if self.recipes is not None:
            recipe = read_recipe(self.recipes / f"{row.agent}.toml")
            found = recipe.config(over=_needing_parent(own, row))
            lectures = found.reinforce.lectures if row.settings.get("reinforce", {}).get("whole") else 1
            sized = _whole(found, found.reinforce.iterations * lectures, row)
        else:
            sizes: dict[str, Any] = dict(self.settings)
            if uses_augmented(row.agent):
                sizes["augmented"] = {"iterations": self.augmented}
            found = Recipe(row.agent, self.preset).config(over=_needing_parent(merged(sizes, own), row))
            sized = _whole(found, self.whole, row)
        return replace(sized, features=found.features or features, init_from="")


def experiments() -> dict[str, Experiment]:
    """Every experiment by name, in the order of the paper."""
    shared = _rows(_FOLDER / "rows.toml", read_toml(_FOLDER / "rows.toml"))
    order = (
        "teaser",
        "data",
        "main",
        "length",
        "trajectories",
        "memory",
        "curriculum",
        "training-task",
        "sanity",
        "segmentation",
        "in-domain",
        *(f"transfer-{task}" for task in TASKS),
    )
    return {name: _experiment(name, shared) for name in order}


def scale(name: str, *, split: str | None = None, recipes: Path | None = None) -> Scale:
    """A scale by name; another split to evaluate on, and recipes instead of its preset, may be given."""
    file = _FOLDER / "scales.toml"
    known = read_toml(file)
    if name not in known:
        raise unknown("Scale", name, known)
    found = from_table(Scale, {"name": name, **known[name]}, where=f"{file}: {name}")
    if recipes is not None and not recipes.is_dir():
        raise ConfigError(f"{recipes}: is not a folder. Give --recipes a folder of recipes AGENT.toml.")
    return replace(found, split=split or found.split, recipes=recipes)


def uses_augmented(agent: str) -> bool:
    """Whether an agent's training begins with augmented data."""
    names = {stage.__name__ for stage in AGENTS[agent].stages}
    return "augmented_stages" in names


def _experiment(name: str, shared: Mapping[str, Row]) -> Experiment:
    file = _FOLDER / "experiments" / f"{name}.toml"
    fields = read_toml(file)
    own = _rows(file, fields.pop("rows", {}))
    table = paper_table(fields["table"])
    if "figure" in fields:  # of some rows of a table, and of other columns
        agents, columns = tuple(fields["agents"]), tuple(fields.get("columns", table.columns))
        table = replace(table, label=fields["label"], agents=agents, columns=columns)
    rows = {**shared, **own}
    for agent in (*table.agents, fields["reference"]):
        if agent not in rows:
            raise unknown(f"{file}: row", agent, rows)
    wanted = set(table.agents)
    while more := {rows[row].parent for row in wanted if rows[row].parent} - wanted:
        wanted |= more
    reported = paper_table(fields["reported"]) if "reported" in fields else None
    chosen = {row: rows[row] for row in rows if row in wanted}
    figure = fields.get("figure", "")
    return Experiment(name, fields["title"], table, fields["reference"], chosen, reported, figure)


def _rows(file: Path, entries: Mapping[str, Any]) -> dict[str, Row]:
    found = {}
    for name, entry in entries.items():
        fields = {"parent" if key == "from" else key: value for key, value in entry.items()}
        found[name] = from_table(Row, fields, where=f"{file}: {name}")
    return found


def _needing_parent(settings: Mapping[str, Any], row: Row) -> dict[str, Any]:
    """With a placeholder for the model of the row it starts from, which is known when that was trained."""
    return merged(settings, {"init_from": "parent"} if row.parent else {})


def _whole(config: TrainingConfig, iterations: int, row: Row) -> TrainingConfig:
    """With as many iterations of reinforcement learning as all lectures have."""
    if not (config.reinforce.whole and row.parent):
        return config
    return replace(config, reinforce=replace(config.reinforce, iterations=iterations))
