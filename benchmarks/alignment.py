"""How well, and how fast, Baby-Steps are aligned with paths.

python benchmarks/alignment.py --data FOLDER, a data directory with features and fine_grained/; with R4R
built, its train split is aligned against the clock. Given are the true sub-instructions of each split named,
asked is where on the path each of them ends but the last. Models are trained, or read with --models FOLDER
(and kept there if they are not there yet).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch

from babywalk.assets.data_directory import CACHE, FINE_GRAINED, SENTENCES
from babywalk.assets.fine_grained import fine_grained_file, read_fine_grained
from babywalk.buildings.features import open_features
from babywalk.episodes.dataset import Dataset
from babywalk.instructions.alignment.aligner import Aligner, AlignerConfig, load_aligner
from babywalk.instructions.alignment.examples import examples_from_annotations
from babywalk.instructions.alignment.methods import METHODS, AlignmentAccuracy, align, compare_methods
from babywalk.instructions.alignment.training import train_aligner
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.identification import IdentificationConfig, identify
from babywalk.instructions.landmarks.classifier import (
    LandmarkConfig,
    LandmarkModel,
    load_landmarks,
    train_landmarks,
)
from babywalk.instructions.landmarks.evaluation import report_landmarks
from babywalk.instructions.segmented import SegmentedTexts
from babywalk.instructions.segmenting import segment_texts
from babywalk.instructions.sentences import WordLists

Made = TypeVar("Made")


def main() -> None:
    arguments = parse()
    torch.set_num_threads(1)
    dataset = Dataset(arguments.data)
    features = open_features(dataset.folder, arguments.features, dataset.houses)
    landmarks, aligner = models(dataset, arguments)
    logits = timed("landmark logits of all viewpoints", lambda: landmarks.logits(features))
    report = report_landmarks(landmarks, logits, dataset.walks("val_seen"), sentences(dataset, "val_seen"))
    print(f"\nlandmarks: {len(report.landmarks)}, mean average precision on val_seen paths {report.mean:.3f}")
    print(f"(a random ranking {report.chance:.3f}); the most common:")
    for item in report.landmarks[:8]:
        print(f"  {item.landmark:16}{item.average:6.3f}  (random {item.chance:.3f}, {item.texts} texts)")

    print(f"\n{'':44}{'exact':>8}{'within one':>12}")
    for split in arguments.splits:
        file = fine_grained_file(dataset.folder / FINE_GRAINED, split)
        examples, truth = examples_from_annotations(read_fine_grained(file), dataset.houses)
        found = compare_methods(
            examples, truth, dataset.houses, features, landmarks=landmarks, aligner=aligner
        )
        if arguments.ablate:
            for without, other in ablations(aligner):
                weighed = compare_methods(examples, truth, dataset.houses, features, aligner=other)
                found[f"best, {without}"] = weighed["best"]
        for method, placed in found.items():
            print(line(f"{split}: {method}", placed))
    if dataset.has("r4r", "train"):
        time_r4r(dataset, arguments.features, landmarks, aligner)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure alignment against true end points.")
    parser.add_argument("--data", type=Path, required=True, help="data directory")
    parser.add_argument("--features", default="objects")
    parser.add_argument("--splits", type=lambda text: text.split(","), default=["val_seen"])
    parser.add_argument("--models", type=Path, help="folder for the trained models")
    parser.add_argument("--ablate", action="store_true", help="also leave out each term of 'best'")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def models(dataset: Dataset, arguments: argparse.Namespace) -> tuple[LandmarkModel, Aligner]:
    kept = arguments.models
    if kept and (kept / "aligner").is_dir():
        return load_landmarks(kept / "landmarks"), load_aligner(kept / "aligner")
    spec, seed = arguments.features, arguments.seed
    found = timed("sentences of train", lambda: sentences(dataset, "train"))
    landmarks = timed(
        "landmark classifier", lambda: train_landmarks(dataset, found, spec, LandmarkConfig(seed=seed))
    )
    aligner = timed("aligner", lambda: train_aligner(dataset, spec, AlignerConfig(seed=seed)))
    if kept:
        landmarks.save(kept / "landmarks")
        aligner.save(kept / "aligner")
    return landmarks, aligner


def sentences(dataset: Dataset, split: str) -> SegmentedTexts:
    cache = dataset.folder / CACHE / SENTENCES
    return segment_texts(dataset.walks(split).texts, lists=WordLists(), cache=cache, workers=1)


def ablations(aligner: Aligner) -> Iterator[tuple[str, Aligner]]:
    """The same weights with terms left out."""
    for terms in (("edge",), ("end",), ("begin",), ("span",), ("edge", "end", "begin")):
        # mypy cannot tell that all of these settings are numbers.
        # All terms are numbers; mypy holds each against every field:
        config = replace(aligner.config, **dict.fromkeys(terms, 0.0))  # type: ignore[arg-type]
        yield f"without {', '.join(terms)}", replace(aligner, config=config)


def time_r4r(dataset: Dataset, spec: str, landmarks: LandmarkModel, aligner: Aligner) -> None:
    task, found = dataset.task("r4r", "train"), sentences(dataset, "train")
    features = open_features(dataset.folder, spec, dataset.houses)
    rows = found.of_episodes(task, np.arange(len(task)))
    steps = BabySteps(task, found, identify(found.table, rows, IdentificationConfig()))
    task.paths  # noqa: B018 - joined before the clock runs
    print(f"\nr4r train: {len(task):,} instructions, {len(steps.sentences.values):,} Baby-Steps")
    for method in METHODS:
        timed(
            f"align by {method}",
            # A default binds the loop's name, and mypy cannot infer a lambda with one.
            # mypy does not infer a lambda that binds a loop's name:
            lambda method=method: align(  # type: ignore[misc]
                steps, method=method, features=features, aligner=aligner, landmarks=landmarks
            ),
        )
    timed("align by best with joints", lambda: align(steps, features=features, aligner=aligner, joints=True))


def timed(what: str, run: Callable[[], Made]) -> Made:
    begin = time.perf_counter()
    made = run()
    print(f"{what:44}{time.perf_counter() - begin:>8.1f} s", flush=True)
    return made


def line(what: str, placed: AlignmentAccuracy) -> str:
    return f"{what:44}{100 * placed.exact:>7.1f}%{100 * placed.within_one:>11.1f}%"


if __name__ == "__main__":
    main()
