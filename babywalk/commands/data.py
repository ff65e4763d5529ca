"""Data directories: build the Dollhouse, join tasks, cut instructions, count, export."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from babywalk.assets.dollhouse import DollhouseConfig, write_dollhouse
from babywalk.assets.fine_grained import fine_grained_file, read_fine_grained
from babywalk.assets.layout import FINE_GRAINED, RAW
from babywalk.assets.manifest import component
from babywalk.assets.r2r import write_walks
from babywalk.common.errors import ConfigError
from babywalk.common.files import atomic_folder, write_json
from babywalk.common.progress import progress
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.importing import Imported, RawFiles, import_into
from babywalk.episodes.joining import TASKS
from babywalk.episodes.statistics import Statistics, lengths, statistics
from babywalk.episodes.task import Task
from babywalk.evaluation.figures.lengths import draw_lengths
from babywalk.evaluation.figures.saving import save
from babywalk.instructions.agreement import Agreement, agreement
from babywalk.instructions.babysteps import BabySteps, walks_with_steps
from babywalk.instructions.identification import READINGS, IdentificationConfig
from babywalk.instructions.sentences import WordLists
from babywalk.instructions.store import (
    aligned,
    identified,
    is_segmented,
    segment_splits,
)

_BUILT_IN = ("Made by BabyWalk's Dollhouse: free of any licence.",)


def make_dollhouse(folder: Path, config: DollhouseConfig, *, precision: str = "float16") -> Imported:
    """Write the built-in data set and bring it in through the same readers as any other."""
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder}: is not empty. Give a new folder for the Dollhouse.")
    with atomic_folder(folder) as target:
        with component(target / RAW, f"Dollhouse, raw files: {config}", notes=_BUILT_IN) as draft:
            write_dollhouse(draft.folder, config)
        raw = target / RAW
        files = RawFiles(
            connectivity=raw / "connectivity",
            r2r=raw / "R2R",
            boxes=raw / "BBox",
            categories=raw / "category_mapping.tsv",
            rooms=raw / "rooms",
            features=tuple((file.stem, file) for file in sorted((raw / "features").glob("*.tsv"))),
            fine_grained=raw / "fgr2r",
            plans=raw / "plans",
        )
        lines = list(import_into(target, files, precision=precision, notes=_BUILT_IN))
        dataset = Dataset(target)
        for name in TASKS:
            for split in _joinable(dataset):
                if TASKS[name].walks > 1:
                    task = dataset.build(name, split)
                    lines.append(f"{name} {split}: {len(task):,} instructions")
    return Imported(folder, tuple(lines))


def build_tasks(
    folder: Path, names: Sequence[str], splits: Sequence[str] | None, *, full: bool, seed: int
) -> list[Task]:
    """Join walks into tasks and keep them in the data directory."""
    dataset = Dataset(folder)
    wanted = splits or _joinable(dataset)
    return [dataset.build(name, split, full=full, seed=seed) for name in names for split in wanted]


def data_statistics(folder: Path, *, figure: Path | None = None) -> Statistics:
    """Count what a data directory holds; with `figure`, draw the lengths of instructions and paths."""
    dataset = Dataset(folder)
    if figure:
        split = "train" if "train" in dataset.splits else dataset.splits[0]
        tasks = {name: lengths(dataset.task(name, split)) for name in TASKS if dataset.has(name, split)}
        save(draw_lengths(tasks), figure)
    return statistics(dataset)


def step_counts(folder: Path) -> dict[str, dict[str, float]]:
    """Baby-Steps per training instruction, by reading of the rules and task; none if not segmented."""
    dataset = Dataset(folder)
    if not is_segmented(dataset, "train"):
        return {}
    tasks = [dataset.task(name, "train") for name in TASKS if dataset.has(name, "train")]
    return {
        label: {task.name: identified(dataset, task, config).mean for task in tasks}
        for label, config in _readings().items()
    }


def check_segments(folder: Path, split: str) -> dict[str, Agreement]:
    """How far our steps, under each reading of the rules, agree with marked sub-instructions of a split."""
    dataset = Dataset(folder)
    marked = read_fine_grained(fine_grained_file(folder / FINE_GRAINED, split))
    task = dataset.task("r2r", split)
    found = {}
    for label, config in _readings().items():
        steps = identified(dataset, task, config)
        found[label] = agreement(marked, (steps.texts(episode) for episode in range(len(steps))))
    return found


def _readings() -> dict[str, IdentificationConfig]:
    """Every way of cutting instructions, by a label for people."""
    configs = {f"reading {name!r}": IdentificationConfig(reading=name) for name in READINGS}
    return {**configs, "a step per sentence": IdentificationConfig(mode="sentence")}


def segment_data(
    folder: Path,
    splits: Sequence[str] | None,
    *,
    lists: WordLists | None = None,
    tagger: str | None = None,
    workers: int = 2,
) -> dict[str, BabySteps]:
    """Segment the instructions of splits; the steps of their R2R episodes."""
    dataset = Dataset(folder)
    wanted = splits or dataset.splits
    segment_splits(dataset, wanted, lists=lists, tagger=tagger, workers=workers)
    return {split: identified(dataset, dataset.task("r2r", split)) for split in wanted}


def export_task(
    folder: Path, name: str, split: str, file: Path, *, seed: int = 0, steps: bool = False
) -> int:
    """Write a task in the community's JSON format; returns the number of instructions.

    With `steps`, each walk also lists its Baby-Steps: sub-instructions, sub-paths, headings at their starts.
    """
    dataset = Dataset(folder)
    task = dataset.task(name, split, seed=seed)
    walks = progress(task.as_walks(), "Writing", total=len(task.chains_used), unit="path")
    if not steps:
        write_walks(file, walks)
        return len(task)
    found, _ = aligned(dataset, task, IdentificationConfig())
    write_json(file, list(walks_with_steps(found)), indent=None)
    return len(task)


def _joinable(dataset: Dataset) -> list[str]:
    return [split for split in dataset.splits if dataset.walks(split).has_goals]
