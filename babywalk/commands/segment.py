"""Segment instructions into Baby-Steps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from babywalk.episodes.dataset import Dataset
from babywalk.episodes.joining import TASKS
from babywalk.instructions.agreement import Agreement, agreement
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.identification import READINGS, IdentificationConfig
from babywalk.instructions.segmenting import SegmentedStep, segment
from babywalk.instructions.sentences import WordLists
from babywalk.instructions.store import identify_steps, is_segmented, segment_splits
from babywalk.instructions.tagging import load_tagger


def segment_instruction(
    text: str, config: IdentificationConfig | None = None, *, tagger: str | None = None
) -> list[SegmentedStep]:
    """The Baby-Steps of one instruction; `tagger` is the name of a spaCy pipeline."""
    return segment(text, config, tagger=load_tagger(tagger))


def segment_data(
    folder: Path,
    splits: Sequence[str] | None,
    *,
    lists: WordLists | None = None,
    tagger: str | None = None,
    workers: int = 2,
) -> dict[str, BabySteps]:
    """Segment the instructions of splits, all by default, and store them; returns the R2R steps by split."""
    dataset = Dataset(folder)
    wanted = splits or dataset.splits
    segment_splits(dataset, wanted, lists=lists, tagger=tagger, workers=workers)
    return {split: identify_steps(dataset, dataset.task("r2r", split)) for split in wanted}


def step_counts(folder: Path) -> dict[str, dict[str, float]]:
    """Mean Baby-Steps per training instruction, by variant of the rules and task; empty if not segmented."""
    dataset = Dataset(folder)
    if not is_segmented(dataset, "train"):
        return {}
    tasks = [dataset.task(name, "train") for name in TASKS if dataset.has(name, "train")]
    return {
        label: {task.name: identify_steps(dataset, task, config).mean for task in tasks}
        for label, config in _variants().items()
    }


def check_segments(folder: Path, split: str) -> dict[str, Agreement]:
    """Agreement of the steps, by variant of the rules, with the annotated sub-instructions of a split."""
    dataset = Dataset(folder)
    annotated = dataset.fine_grained(split)
    task = dataset.task("r2r", split)
    found = {}
    for label, config in _variants().items():
        steps = identify_steps(dataset, task, config)
        found[label] = agreement(annotated, (steps.texts(episode) for episode in range(len(steps))))
    return found


def _variants() -> dict[str, IdentificationConfig]:
    """The variants of the identification rules, by a label for tables."""
    configs = {f"reading {name!r}": IdentificationConfig(reading=name) for name in READINGS}
    return {**configs, "a step per sentence": IdentificationConfig(mode="sentence")}
