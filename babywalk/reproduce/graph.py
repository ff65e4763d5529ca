"""The graph of stages of experiments: data, speaker, augmentation, agents, evaluations.

The name of a stage ends in a key of its content: the settings, the model it starts from, the files of the
data that it reads, and the format. What experiments share has the same key, and is made once.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from babywalk.assets.data_directory import (
    BABYSTEPS,
    CONNECTIVITY,
    FEATURES,
    MANIFEST,
    SENTENCES,
    SPEAKER,
    WALKS,
    WORD_VECTORS,
    read_manifest,
)
from babywalk.assets.r2r import r2r_file
from babywalk.buildings.features import BLIND, sources
from babywalk.common.config import differing_settings
from babywalk.common.errors import BabyWalkError, ConfigError
from babywalk.common.files import toml_text
from babywalk.episodes.joining import DRAW
from babywalk.evaluation.result_files import result_file
from babywalk.instructions.sentences import RULES
from babywalk.reproduce.experiment import Experiment, Row, Scale, uses_augmented
from babywalk.reproduce.stage import FORMAT, Stage, finished, record_file, record_finished
from babywalk.training.config import TrainingConfig, task_names
from babywalk.training.run_config import config_file, is_run, read_run_config

RESULT = "result.json"  # in a run that has finished
_AUGMENTED = "augmented"  # split
_BUILT_IN = "dollhouse"  # features of the built-in data
_KEY_LENGTH = 10  # characters


@dataclass(frozen=True, slots=True)
class Cell:
    """A model that is evaluated on a task: a number of a table, for one seed."""

    row: str
    trained_on: str
    seed: int
    task: str
    stage: Stage  # the evaluation
    training: Stage
    model: Path

    @property
    def trajectories(self) -> Path:
        """The result file of the evaluation."""
        return self.stage.products[0]


@dataclass(slots=True)
class Graph:
    """All stages that experiments need, and the cells of each experiment's table."""

    stages: dict[str, Stage] = field(default_factory=dict)  # by name; each after those it needs
    cells: dict[str, list[Cell]] = field(default_factory=dict)  # by experiment

    def add(self, stage: Stage) -> Stage:
        """Add a stage, or return the one of its name."""
        return self.stages.setdefault(stage.name, stage)


@dataclass(frozen=True, slots=True)
class Place:
    """Where experiments are made, from which data and in which size."""

    folder: Path
    data: Path
    built_in: bool  # whether the data are the Dollhouse, made here
    scale: Scale
    houses: int = 30  # of the Dollhouse
    adopt: tuple[Path, ...] = ()  # folders of runs that may be used instead of new ones


def preparation(place: Place, chosen: Iterable[Experiment]) -> Graph:
    """The stages that prepare the data: until they are finished, there are no keys for the others."""
    graph, data = Graph(), place.data
    chosen = list(chosen)
    trained = {one.tasks(column)[0] for one in chosen if one.table.agents for column in one.table.columns}
    evaluated = {task for one in chosen for column in one.table.columns for task in one.tasks(column)[1]}
    rows = [row for one in chosen for row in one.rows.values()]
    ready: tuple[str, ...] = ()

    def add(
        name: str,
        kind: str,
        commands: Sequence[Sequence[str]],
        products: Sequence[Path],
        minutes: float = 1.0,
    ) -> None:
        nonlocal ready
        made = tuple(tuple(command) for command in commands)
        stage = Stage(name, kind, made, tuple(products), ready, minutes=minutes, kept=False)
        ready = (graph.add(stage).name,)

    at = ("--data", str(data))
    if place.built_in:
        houses = ("--houses", str(place.houses))
        made = [data / name / MANIFEST for name in (CONNECTIVITY, WALKS)]
        add("data", "data", [("data", "dollhouse", str(data), *houses)], made)
    for task in sorted(evaluated | trained):
        if task != "r2r":
            built = [data / task / split / MANIFEST for split in ("train", "val_unseen")]
            add(f"task-{task}", "data", [("data", "build", task, *at)], built)
    segmented = [data / SENTENCES / split / MANIFEST for split in ("train", "val_seen", "val_unseen")]
    add("sentences", "data", [("data", "segment", *at)], segmented)
    for task in sorted(trained):
        aligned = [data / BABYSTEPS / task / "train" / MANIFEST]
        add(f"steps-{task}", "data", [("data", "align", task, *at)], aligned, 2.0)
    if any(uses_augmented(row.agent) for row in rows):
        add("speaker", "speaker", [("data", "speaker", *at)], [data / SPEAKER / MANIFEST], 10.0)
        walks = ("--walks", str(place.scale.walks), "--split", _AUGMENTED)
        described = [r2r_file(data / WALKS, _AUGMENTED)]
        add("augmentation", "augmentation", [("data", "augment", *walks, *at)], described, 5.0)
        splits = ("--splits", _AUGMENTED)
        add(
            "augmentation-steps",
            "augmentation",
            [("data", "segment", *at, *splits), ("data", "align", "r2r", *at, *splits)],
            [data / SENTENCES / _AUGMENTED / MANIFEST, data / BABYSTEPS / "r2r" / _AUGMENTED / MANIFEST],
            3.0,
        )
    return graph


def experiment_graph(place: Place, chosen: Mapping[str, Experiment], seeds: int) -> Graph:
    """The agents and evaluations of experiments. The keys are those of the data as they are now."""
    graph = Graph()
    build = _Builder(place, graph)
    for name, experiment in chosen.items():
        graph.cells[name] = [
            build.cell(experiment, row, trained_on, task, seed)
            for seed in range(seeds)
            for row in experiment.table.agents
            for trained_on, task in dict.fromkeys(
                (experiment.tasks(column)[0], task)
                for column in experiment.table.columns
                for task in experiment.tasks(column)[1]
            )
        ]
    return graph


class _Builder:
    """Adds the stages of cells to a graph."""

    def __init__(self, place: Place, graph: Graph) -> None:
        self.place, self.graph = place, graph
        found = next(iter(sources(place.data)), BLIND) if place.data.is_dir() else _BUILT_IN
        self.features = found
        self.content = cache(self._content)
        self.adoptable = _runs(place.adopt)

    def cell(self, experiment: Experiment, name: str, trained_on: str, task: str, seed: int) -> Cell:
        place = self.place
        row = experiment.rows[name]
        training, run = self.training(experiment.rows, row, trained_on, seed)
        model = _model(run, row)
        content = {
            "training": training.name,
            "model": row.model,
            "houses": self.content((CONNECTIVITY,)),
            "episodes": self._episodes(task, place.scale.split.partition(":")[0]),
        }
        key = _key("evaluation", content | {"split": place.scale.split})
        label = "-".join(part for part in (training.agent, trained_on, row.model.replace(" ", "_")) if part)
        stage_name = f"{label}-{seed}-on-{task}-{key}"
        walks = place.folder / "walks" / stage_name
        command = (
            *("evaluate", str(model), "--data", str(place.data), "--tasks", task),
            *("--split", place.scale.split, "--trajectories", str(walks), "--threads", "1"),
        )
        stage = Stage(
            name=stage_name,
            kind="evaluation",
            commands=(command,),
            products=(result_file(walks, task, place.scale.split),),
            needs=(training.name,),
            agent=training.agent,
            minutes=place.scale.evaluation_minutes,
            megabytes=1.0,
        )
        return Cell(name, trained_on, seed, task, self.graph.add(stage), training, model)

    def training(self, rows: Mapping[str, Row], row: Row, task: str, seed: int) -> tuple[Stage, Path]:
        """The stage that trains a row, and the run directory it fills."""
        place = self.place
        config = place.scale.config(row, task, seed, self.features)
        content = {"agent": row.agent, "settings": _settings(config), "data": self._data(config, row)}
        needs: tuple[str, ...] = ()
        initial: Path | None = None
        if row.parent:
            parent = rows[row.parent]
            before, parent_run = self.training(rows, parent, task, seed)
            content["parent"] = [before.name, parent.model]
            needs, initial = (before.name,), _model(parent_run, parent)
        name = f"{row.agent}-{task}-{seed}-{_key('agent', content)}"
        if name in self.graph.stages:
            stage = self.graph.stages[name]
            return stage, stage.products[0].parent
        run = place.folder / "runs" / name
        recipe = place.folder / "recipes" / f"{name}.toml"
        started = {"agent": row.agent, **_settings(config), "init_from": str(initial or "")}
        command = ("train", "--config", str(recipe), "--data", str(place.data), "--run", str(run))
        iterations = {
            "imitation": config.imitation.iterations
            + uses_augmented(row.agent) * config.augmented.iterations,
            "reinforce": config.reinforce.iterations
            * (1 if config.reinforce.whole else config.reinforce.lectures),
        }
        stage = Stage(
            name=name,
            kind="agent",
            commands=(command,),
            products=(run / RESULT,),
            needs=needs,
            files=((recipe, toml_text(started) + "\n"),),
            started=config_file(run),
            iterations=sum(iterations.values()),
            agent=row.agent,
            minutes=sum(place.scale.seconds[kind] * count for kind, count in iterations.items()) / 60,
            megabytes=place.scale.megabytes,
        )
        stage = self.graph.add(self._adopted(stage, config, initial))
        return stage, stage.products[0].parent

    def _adopted(self, stage: Stage, config: TrainingConfig, initial: Path | None) -> Stage:
        """The stage with a run that is there already: one recorded before, or one that may be adopted."""
        record = finished(self.place.folder, stage)
        if record is not None and not record.adopted:
            return stage
        before = [Path(record.adopted)] if record is not None else []
        data = self.place.data
        found = next(
            (
                run
                for run in (*before, *self.adoptable)
                if is_run(run) and _is_run_of(run, stage.agent, config, initial, data)
            ),
            None,
        )
        if found is None:
            return stage
        return replace(
            stage, commands=(), files=(), started=None, products=(found / RESULT,), minutes=0.0, megabytes=0.0
        )

    def _data(self, config: TrainingConfig, row: Row) -> dict[str, Any]:
        """The content of the data that training reads."""
        validation = config.validate_on.partition(":")[0]
        mixes = task_names(config.imitation.mix) + task_names(config.reinforce.mix)
        read = {
            (config.task, "train"),
            *((name.partition(":")[0], name.partition(":")[2] or "train") for name in mixes),
        }
        if uses_augmented(row.agent) and config.augmented.iterations:
            read |= {("r2r", config.augmented.split)}
            for name in task_names(config.augmented.mix):
                read.add((name.partition(":")[0], name.partition(":")[2] or "train"))
        names = [
            name
            for name in re.split(r"[+:,]", config.features)
            if (self.place.data / FEATURES / name).is_dir()
        ]
        return {
            "houses": self.content((CONNECTIVITY,)),
            "words": self.content((WORD_VECTORS,)),
            "features": {name: self.content((FEATURES, name)) for name in names},
            "episodes": {"/".join(each): self._episodes(*each) for each in sorted(read)},
            "steps": {"/".join(each): self.content((BABYSTEPS, *each)) for each in sorted(read)},
            "validation": self._episodes(config.task, validation),
            "speaker": self.content((SPEAKER,)) if config.reinforce.cycle else None,
        }

    def _episodes(self, task: str, split: str) -> list[Any]:
        walks = self.content((WALKS,)) or {}
        joined = None if task == "r2r" else self.content((task, split))
        return [walks.get(r2r_file(Path(), split).name), joined, self.content((SENTENCES, split))]

    def _content(self, place: tuple[str, ...]) -> dict[str, Any] | None:
        """The checksum of each file of a component; None if the data have no such component."""
        folder = self.place.data.joinpath(*place)
        if not (folder / MANIFEST).is_file():
            return None
        files: Mapping[str, Any] = read_manifest(folder).table("files")
        return {name: about["sha256"] for name, about in files.items()}


def record_adopted(folder: Path, graph: Graph) -> None:
    """Keep in mind which runs are adopted, so that the next start needs not be told."""
    for stage in graph.stages.values():
        if stage.kind == "agent" and not stage.commands and not record_file(folder, stage).exists():
            record_finished(folder, stage, minutes=0.0, adopted=str(stage.products[0].parent))


def _model(run: Path, row: Row) -> Path:
    """A run, or the model of one of its stages."""
    return run / "best" / f"{row.model.replace(' ', '_')}.safetensors" if row.model else run


def _settings(config: TrainingConfig) -> dict[str, Any]:
    return {name: value for name, value in asdict(config).items() if name != "init_from"}


def _key(kind: str, content: Mapping[str, Any]) -> str:
    facts = {"format": FORMAT, "kind": kind, "draw": DRAW, "rules": RULES, **content}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:_KEY_LENGTH]


def _runs(folders: Iterable[Path]) -> list[Path]:
    """The finished runs in folders."""
    for folder in folders:
        if not folder.is_dir():
            raise ConfigError(f"{folder}: is not a folder. Give --adopt a folder of runs.")
    found = [run for folder in folders for run in sorted(folder.iterdir()) if is_run(run)]
    return [
        run.resolve() for run in found if (run / RESULT).is_file() and (run / "model.safetensors").is_file()
    ]


def _is_run_of(run: Path, agent: str, config: TrainingConfig, initial: Path | None, data: Path) -> bool:
    """Whether a run has the settings of a cell, on the same data and from the same model."""
    try:
        about = read_run_config(run)
        its = about.config()
    except BabyWalkError:
        return False
    if about.agent != agent or about.data != data.resolve():
        return False
    if not config.threads:  # its run has the number that was chosen then
        its = replace(its, threads=0)
    if (initial is not None) != bool(its.init_from):
        return False
    if initial is not None:
        # A path in a run's settings may be relative to where it was started.
        parts = Path(its.init_from).parts
        if initial.resolve().parts[-len(parts) :] != parts:
            return False
    return not differing_settings(replace(its, init_from=""), replace(config, init_from=""))
