"""Publishing weights: a model's file, small enough to be kept with the code, and a card made from facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from babywalk.assets.layout import BABYSTEPS, CONNECTIVITY, SENTENCES, WALKS, WORD_VECTORS
from babywalk.assets.manifest import MANIFEST, read_manifest
from babywalk.assets.records import Record
from babywalk.buildings.features import open_features
from babywalk.commands.evaluate import evaluate_agent
from babywalk.commands.train import RESULT  # says it in a sentence if torch is missing
from babywalk.common.errors import ConfigError, DataError, unknown
from babywalk.common.files import atomic_folder, read_json, write_text
from babywalk.episodes.dataset import Dataset
from babywalk.evaluation.model_card import Measurement, ModelCard
from babywalk.evaluation.reports import Report, read_reports
from babywalk.modules.model import Model, load_model, save_model, size_of
from babywalk.training.config import TrainingConfig
from babywalk.training.run_config import RunConfig, read_run_config

if TYPE_CHECKING:
    from torch import Tensor

WEIGHTS, CARD = "model.safetensors", "README.md"
PRECISIONS = ("float32", "float16")


@dataclass(frozen=True, slots=True)
class Published:
    """What was written."""

    folder: Path
    bytes: int
    measured: tuple[str, ...]  # rows of the card's tables


def publish(
    run: Path,
    folder: Path,
    *,
    data: Path | None = None,
    precision: str = "float32",
    tasks: Sequence[str] = (),
    split: str = "val_unseen",
    results: Sequence[Path] = (),
) -> Published:
    """Write a run's model and its card into a new folder; for `tasks`, what is written walks and is measured.

    `results` are what 'babywalk evaluate --json' said: their measures are told too.
    """
    if precision not in PRECISIONS:
        raise unknown("Precision", precision, PRECISIONS)
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder}: is not empty. Give a new folder for the weights.")
    run_config = read_run_config(run)
    dataset = Dataset(data or run_config.data)
    model = load_model(run)
    if model.vocabulary != dataset.vocabulary():
        raise DataError(f"{dataset.folder}: is not what {run} was trained on: it has other words.")
    told = [read_measurement(file) for file in results]
    with atomic_folder(folder) as draft:
        save_model(draft / WEIGHTS, model, rounded(model, precision))
        if tasks:
            # The file itself walks, so that the card tells of what is published.
            told.insert(0, _measure(draft, folder, dataset, tasks, split))
        size = (draft / WEIGHTS).stat().st_size
        card = _card(folder.as_posix(), run, run_config, model, dataset, precision, size, tuple(told))
        write_text(draft / CARD, card.text())
    return Published(folder, size, tuple(row for found in told for row in found.rows))


def rounded(model: Model, precision: str) -> dict[str, Tensor]:
    """The weights in a precision, if they fit into it."""
    kept = dict(model.network.state_dict())
    if precision == "float16":
        kept = {name: tensor.half() for name, tensor in kept.items()}
    for name, tensor in kept.items():
        if not tensor.isfinite().all():
            raise DataError(f"Weight {name!r} does not fit into {precision}. Publish it as float32.")
    return kept


def read_measurement(file: Path) -> Measurement:
    """The measures that 'babywalk evaluate --json' said."""
    found = read_reports(file)
    rows = {
        _label(report) if len(found) == 1 else f"{_label(report)}, {agent}": report.measures
        for agent, reports in found.items()
        for report in reports
    }
    whose = ", ".join(f"`{Path(agent).name}`" for agent in found)
    return Measurement(rows, f"Measured before publishing, of {whose}, by `{file.name}`.")


def _measure(draft: Path, folder: Path, dataset: Dataset, tasks: Sequence[str], split: str) -> Measurement:
    reports = evaluate_agent(str(draft), dataset.folder, tasks, split)
    asked = f"--tasks {','.join(tasks)} --split {split}"
    return Measurement(
        {_label(one): one.measures for one in reports},
        f"`babywalk evaluate {folder.as_posix()} --data DATA {asked}` says this of the file as it is "
        "published.",
    )


def _label(report: Report) -> str:
    return f"{report.task.upper()} {report.split}, {report.episodes:,} {report.unit}"


def _card(
    name: str,
    run: Path,
    run_config: RunConfig,
    model: Model,
    dataset: Dataset,
    precision: str,
    size: int,
    measurements: tuple[Measurement, ...],
) -> ModelCard:
    config = run_config.config()
    ended = _optional(run / RESULT)
    return ModelCard(
        name=name,
        agent=run_config.agent,
        config=config,
        precision=precision,
        bytes=size,
        learned=size_of(model.network),
        words=len(model.vocabulary),
        view_width=model.view_width,
        features=model.features,
        trained_on=_trained_on(dataset, config),
        data_keys={
            "houses it knows, as a key": dataset.houses.key,
            "SHA-256 of the walks it was trained on": dataset.walks_key("train"),
        },
        facts=model.facts,
        bests=ended.get("bests", {}),
        iterations=ended.get("total"),
        recipe=run_config.recipe,
        versions=_optional(run / "versions.json"),
        measurements=measurements,
        notes=tuple(dict.fromkeys(_notes(dataset, model, config))),
    )


def _trained_on(dataset: Dataset, config: TrainingConfig) -> str:
    task = dataset.task(config.task, "train")
    houses = len(np.unique(dataset.houses.house_of[task.paths.firsts[task.chains_used]]))
    return f"{task.name} train: {len(task):,} instructions, {len(task.chains_used):,} paths, {houses} houses"


def _notes(dataset: Dataset, model: Model, config: TrainingConfig) -> Iterator[str]:
    """The licence notes of everything that went into the weights."""
    used = [CONNECTIVITY, WALKS]
    if model.frozen_words:
        used.append(WORD_VECTORS)
    if config.policy.steps != "whole":
        used += [f"{SENTENCES}/train", f"{BABYSTEPS}/{config.task}/train"]
    for name in used:
        if (dataset.folder / name / MANIFEST).is_file():
            yield from read_manifest(dataset.folder / name).fields.get("notes", [])
    yield from open_features(dataset.folder, model.features, dataset.houses).notes


def _optional(file: Path) -> Mapping[str, Any]:
    """What a run has written down, if it has."""
    return Record.of(file, "the file", read_json(file)).fields if file.is_file() else {}
