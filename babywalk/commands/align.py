"""Align Baby-Steps with paths, and train the models that do it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import babywalk.common.needs_torch  # noqa: F401
from babywalk.assets.data_directory import ALIGNER, FINE_GRAINED, LANDMARKS
from babywalk.assets.fine_grained import fine_grained_file, read_fine_grained
from babywalk.buildings.features import BLIND, open_features, sources
from babywalk.episodes.dataset import Dataset
from babywalk.instructions.alignment.aligner import Aligner, load_aligner
from babywalk.instructions.alignment.examples import examples_from_annotations
from babywalk.instructions.alignment.methods import AlignmentAccuracy, align, compare_methods
from babywalk.instructions.alignment.training import train_aligner
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.identification import IdentificationConfig
from babywalk.instructions.landmarks.classifier import LandmarkModel, load_landmarks, train_landmarks
from babywalk.instructions.landmarks.evaluation import LandmarkReport, report_landmarks
from babywalk.instructions.store import (
    identify_steps,
    save_aligned_steps,
    segmented_texts,
)


def learn_landmarks(folder: Path, features: str | None = None) -> LandmarkReport:
    """Train the landmark classifier of appendix A.2, keep it, and report on val_seen."""
    dataset = Dataset(folder)
    spec = default_features(folder, features)
    model = train_landmarks(dataset, segmented_texts(dataset, "train"), spec)
    model.save(folder / LANDMARKS)
    logits = model.logits(open_features(folder, spec, dataset.houses))
    return report_landmarks(model, logits, dataset.walks("val_seen"), segmented_texts(dataset, "val_seen"))


def align_data(
    folder: Path,
    tasks: Sequence[str],
    splits: Sequence[str] | None,
    *,
    method: str = "best",
    features: str | None = None,
    joints: bool = False,
    config: IdentificationConfig | None = None,
) -> list[BabySteps]:
    """Align the Baby-Steps of tasks with their paths and keep them; what must be learned first is learned."""
    dataset, cut = Dataset(folder), config or IdentificationConfig()
    spec = default_features(folder, features)
    seen = open_features(folder, spec, dataset.houses)
    aligner = _aligner(dataset, spec) if method == "best" else None
    landmarks = _landmarks(dataset, spec) if method == "paper" else None
    found = []
    for split in splits or ["train"]:
        for name in tasks:
            steps = identify_steps(dataset, dataset.task(name, split), cut)
            steps = align(
                steps, method=method, features=seen, aligner=aligner, landmarks=landmarks, joints=joints
            )
            save_aligned_steps(dataset, steps, cut, method=method, notes=seen.notes)
            found.append(steps)
    return found


def compare_alignments(folder: Path, split: str, features: str | None = None) -> dict[str, AlignmentAccuracy]:
    """How well each method places the ends of sub-instructions that people, or the narrator, marked."""
    dataset, spec = Dataset(folder), default_features(folder, features)
    file = fine_grained_file(folder / FINE_GRAINED, split)
    examples, truth = examples_from_annotations(read_fine_grained(file), dataset.houses)
    return compare_methods(
        examples,
        truth,
        dataset.houses,
        open_features(folder, spec, dataset.houses),
        landmarks=_landmarks(dataset, spec),
        aligner=_aligner(dataset, spec),
    )


def _aligner(dataset: Dataset, spec: str) -> Aligner:
    """The aligner that was learned for a feature spec; learned now if there is none."""
    folder = dataset.folder / ALIGNER
    if folder.is_dir():
        kept = load_aligner(folder)
        if kept.features == spec:
            return kept
    learned = train_aligner(dataset, spec)
    learned.save(folder)
    return learned


def _landmarks(dataset: Dataset, spec: str) -> LandmarkModel:
    """The landmark classifier that was learned for a feature spec; learned now if there is none."""
    folder = dataset.folder / LANDMARKS
    if folder.is_dir():
        kept = load_landmarks(folder)
        if kept.features == spec:
            return kept
    learned = train_landmarks(dataset, segmented_texts(dataset, "train"), spec)
    learned.save(folder)
    return learned


def default_features(folder: Path, features: str | None) -> str:
    """What was asked for; else named objects, which words speak of; else the first source."""
    known = sources(folder)
    return features or ("objects" if "objects" in known else next(iter(known), BLIND))
