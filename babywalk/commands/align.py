"""Align Baby-Steps with paths; train the aligner and the landmark classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import babywalk.common.needs_torch  # noqa: F401
from babywalk.assets.data_directory import ALIGNER, LANDMARKS
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

Trained = TypeVar("Trained", Aligner, LandmarkModel)


def train_landmark_classifier(folder: Path, features: str | None = None) -> LandmarkReport:
    """Train the landmark classifier of appendix A.2, store it, and report its precision on val_seen."""
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
    """Align the Baby-Steps of tasks with their paths and store them; the model is trained first if needed."""
    dataset, rules = Dataset(folder), config or IdentificationConfig()
    spec = default_features(folder, features)
    views = open_features(folder, spec, dataset.houses)
    aligner = _aligner(dataset, spec) if method == "best" else None
    landmarks = _landmarks(dataset, spec) if method == "paper" else None
    aligned = []
    for split in splits or ["train"]:
        for name in tasks:
            steps = identify_steps(dataset, dataset.task(name, split), rules)
            steps = align(
                steps, method=method, features=views, aligner=aligner, landmarks=landmarks, joints=joints
            )
            save_aligned_steps(dataset, steps, rules, method=method, notes=views.notes)
            aligned.append(steps)
    return aligned


def compare_alignments(folder: Path, split: str, features: str | None = None) -> dict[str, AlignmentAccuracy]:
    """The accuracy of each method on the annotated ends of sub-instructions."""
    dataset, spec = Dataset(folder), default_features(folder, features)
    examples, truth = examples_from_annotations(dataset.fine_grained(split), dataset.houses)
    return compare_methods(
        examples,
        truth,
        dataset.houses,
        open_features(folder, spec, dataset.houses),
        landmarks=_landmarks(dataset, spec),
        aligner=_aligner(dataset, spec),
    )


def default_features(folder: Path, features: str | None) -> str:
    """The given features; by default named objects, which instructions mention, or else the first source."""
    known = sources(folder)
    return features or ("objects" if "objects" in known else next(iter(known), BLIND))


def _aligner(dataset: Dataset, spec: str) -> Aligner:
    return _load_or_train(dataset.folder / ALIGNER, spec, load_aligner, lambda: train_aligner(dataset, spec))


def _landmarks(dataset: Dataset, spec: str) -> LandmarkModel:
    return _load_or_train(
        dataset.folder / LANDMARKS,
        spec,
        load_landmarks,
        lambda: train_landmarks(dataset, segmented_texts(dataset, "train"), spec),
    )


def _load_or_train(
    folder: Path, spec: str, load: Callable[[Path], Trained], train: Callable[[], Trained]
) -> Trained:
    """The model stored in a folder if it was trained on these features; else trained now and stored."""
    if folder.is_dir() and (stored := load(folder)).features == spec:
        return stored
    trained = train()
    trained.save(folder)
    return trained
