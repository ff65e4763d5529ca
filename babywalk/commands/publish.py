"""Publish the weights of a run: a model file and its model card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from babywalk.assets.data_directory import (
    BABYSTEPS,
    CONNECTIVITY,
    MANIFEST,
    SENTENCES,
    WALKS,
    WORD_VECTORS,
    read_manifest,
)
from babywalk.assets.records import Record
from babywalk.buildings.features import open_features
from babywalk.commands.evaluate import evaluate_agent
from babywalk.commands.train import RESULT  # raises a ConfigError if torch is missing
from babywalk.common.config import from_table
from babywalk.common.errors import ConfigError, DataError, unknown
from babywalk.common.files import atomic_folder, check_signed, read_json, write_text
from babywalk.episodes.dataset import Dataset
from babywalk.evaluation.model_card import Measurement, ModelCard
from babywalk.evaluation.report import Report, read_reports
from babywalk.modules.model import Model, count_parameters, load_model, save_model
from babywalk.training.checkpoint import Progress
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
    measured: tuple[str, ...]  # labels of the rows of the card's tables


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
    """Write the model of a run and its card into a new folder.

    The written file is evaluated on `tasks`. `results` are outputs of 'babywalk evaluate --json'; the card
    shows their scores too.
    """
    if precision not in PRECISIONS:
        raise unknown("Precision", precision, PRECISIONS)
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder}: is not empty. Give a new folder for the weights.")
    run_config = read_run_config(run)
    dataset = Dataset(data or run_config.data)
    model = load_model(run)
    if model.vocabulary != dataset.vocabulary():
        raise DataError(
            f"{dataset.folder}: is not the data {run} was trained on: the vocabulary differs. Give --data."
        )
    measurements = [_read_measurement(file) for file in results]
    with atomic_folder(folder) as draft:
        save_model(draft / WEIGHTS, model, rounded(model, precision))
        if tasks:
            # The rounded weights as written, not those of the run.
            measurements.insert(0, _evaluate(draft, folder, dataset, tasks, split))
        size = (draft / WEIGHTS).stat().st_size
        card = _card(folder.as_posix(), run, run_config, model, dataset, precision, size, tuple(measurements))
        write_text(draft / CARD, card.text())
    return Published(folder, size, tuple(row for one in measurements for row in one.rows))


def rounded(model: Model, precision: str) -> dict[str, Tensor]:
    """The weights in a precision; raises if a value overflows it."""
    weights = dict(model.network.state_dict())
    if precision == "float16":
        weights = {name: tensor.half() for name, tensor in weights.items()}
    for name, tensor in weights.items():
        if not tensor.isfinite().all():
            raise DataError(f"Weight {name!r} is NaN, infinite or too large for {precision}. Use float32.")
    return weights


def _read_measurement(file: Path) -> Measurement:
    """The scores in an output of 'babywalk evaluate --json'."""
    found = read_reports(file)
    if any(report.known_map for reports in found.values() for report in reports):
        raise ConfigError(
            f"{file}: is of an agent that had the map of the house. A card compares agents that walk all "
            "they look at: leave known_map out of --decode."
        )
    rows = {
        _row_label(report) if len(found) == 1 else f"{_row_label(report)}, {agent}": report.measures
        for agent, reports in found.items()
        for report in reports
    }
    agents = ", ".join(f"`{Path(agent).name}`" for agent in found)
    return Measurement(rows, f"Evaluated before publishing: {agents}, from `{file.name}`.")


def _evaluate(draft: Path, folder: Path, dataset: Dataset, tasks: Sequence[str], split: str) -> Measurement:
    reports = evaluate_agent(str(draft), dataset.folder, tasks, split)
    options = f"--tasks {','.join(tasks)} --split {split}"
    return Measurement(
        {_row_label(one): one.measures for one in reports},
        f"By `babywalk evaluate {folder.as_posix()} --data DATA {options}` on the published file.",
    )


def _row_label(report: Report) -> str:
    how = f", {report.decoding}" if report.decoding not in ("", "greedy") else ""
    return f"{report.task.upper()} {report.split}, {report.episodes:,} {report.unit}{how}"


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
    result = from_table(Progress, _read_if_exists(run / RESULT), where=str(run / RESULT))
    return ModelCard(
        name=name,
        agent=run_config.agent,
        config=config,
        precision=precision,
        bytes=size,
        parameters=count_parameters(model.network),
        words=len(model.vocabulary),
        view_width=model.view_width,
        features=model.features,
        trained_on=_trained_on(dataset, config),
        data_keys={
            "key of the houses": dataset.houses.key,
            "SHA-256 of the training walks": dataset.walks_hash("train"),
        },
        facts=model.facts,
        bests=result.bests,
        iterations=result.total if (run / RESULT).is_file() else None,
        recipe=run_config.recipe,
        versions=_read_if_exists(run / "versions.json"),
        measurements=measurements,
        notes=tuple(dict.fromkeys(_licence_notes(dataset, model, config))),
    )


def _trained_on(dataset: Dataset, config: TrainingConfig) -> str:
    task = dataset.task(config.task, "train")
    houses = len(np.unique(dataset.houses.house_of[task.paths.firsts[task.chains_used]]))
    return f"{task.name} train: {len(task):,} instructions, {len(task.chains_used):,} paths, {houses} houses"


def _licence_notes(dataset: Dataset, model: Model, config: TrainingConfig) -> Iterator[str]:
    """The licence notes of all data that went into the weights."""
    used = [CONNECTIVITY, WALKS]
    if model.frozen_words:
        used.append(WORD_VECTORS)
    if config.policy.steps != "whole":
        used += [f"{SENTENCES}/train", f"{BABYSTEPS}/{config.task}/train"]
    for name in used:
        if (dataset.folder / name / MANIFEST).is_file():
            yield from read_manifest(dataset.folder / name).optional_strings("notes")
    yield from open_features(dataset.folder, model.features, dataset.houses).notes


def _read_if_exists(file: Path) -> Mapping[str, Any]:
    """The fields of a JSON file of a run; empty if it does not exist."""
    if not file.is_file():
        return {}
    record = Record.of(file, "the file", read_json(file))
    return check_signed(file, record.fields, "Restore it, or remove it.")
