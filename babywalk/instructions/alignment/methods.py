"""Aligning the Baby-Steps of a task with its paths by one of three methods, and their accuracy.

proportional   in proportion to words: the control, which needs no model
paper          by landmarks, the dynamic programme of appendix A.2
best           by the learned aligner, which uses all words, moves and views
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from babywalk.buildings.features import ViewFeatures
from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError, DataError, unknown
from babywalk.common.ragged import Ragged
from babywalk.instructions.alignment.aligner import Aligner
from babywalk.instructions.alignment.examples import AlignmentExamples, examples_from_babysteps
from babywalk.instructions.alignment.paper import align_by_landmarks, landmarks_of_steps, landmarks_of_texts
from babywalk.instructions.alignment.segmentation import proportional
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.landmarks.classifier import LandmarkModel

METHODS = ("best", "paper", "proportional")


def align(
    steps: BabySteps,
    *,
    method: str = "best",
    features: ViewFeatures | None = None,
    aligner: Aligner | None = None,  # for "best"
    landmarks: LandmarkModel | None = None,  # for "paper"
    joints: bool = False,
) -> BabySteps:
    """The same steps with their ends.

    Every step has at least one state, neighbours share the state where one ends and the next begins, and the
    last ends at the goal. With `joints` the best method knows where the walks of a chain meet.
    """
    if method not in METHODS:
        raise unknown("Alignment method", method, METHODS)
    if joints and method != "best":
        raise ConfigError(f"joints = true needs the method 'best', not {method!r}.")
    return replace(steps, ends=_ends(steps, method, features, aligner, landmarks, joints))


def _ends(
    steps: BabySteps,
    method: str,
    features: ViewFeatures | None,
    aligner: Aligner | None,
    landmarks: LandmarkModel | None,
    joints: bool,
) -> Ragged:
    if method == "proportional":
        return _proportional_ends(examples_from_babysteps(steps))
    if method == "best" and aligner is not None and features is not None:
        return aligner.ends(examples_from_babysteps(steps, joints=joints), steps.task.houses, features)
    if method == "paper" and landmarks is not None and features is not None:
        return align_by_landmarks(
            landmarks.logits(features),
            steps.task.paths,
            steps.task.chain_of(np.arange(len(steps))),
            steps.sentences.lengths,
            landmarks_of_steps(steps, landmarks.vocabulary),
        )
    needed = "an aligner" if method == "best" else "a landmark classifier"
    raise ConfigError(
        f"Method {method!r} needs {needed} and view features. Train one, or use 'proportional'."
    )


def _proportional_ends(examples: AlignmentExamples) -> Ragged:
    return examples.step_ends(proportional(examples.word_counts, examples.states))


@dataclass(frozen=True, slots=True)
class AlignmentAccuracy:
    """Over the inner ends: those of all steps but each episode's last, which is always at the goal."""

    exact: float  # fraction
    within_one: float  # fraction at most one viewpoint of the path away
    ends: int


def evaluate_alignment(ends: Ragged, truth: Ragged) -> AlignmentAccuracy:
    """Compare the ends of the steps of the same episodes."""
    if not np.array_equal(ends.start, truth.start):
        raise DataError("The alignments have different numbers of steps and cannot be compared.")
    inner = np.ones(len(truth.values), dtype=np.bool_)
    inner[truth.start[1:][truth.lengths > 0] - 1] = False
    if not inner.any():
        raise DataError("No episode has two steps, so there are no inner ends to compare.")
    distance = np.abs(ends.values[inner] - truth.values[inner])
    return AlignmentAccuracy(float((distance == 0).mean()), float((distance <= 1).mean()), int(inner.sum()))


def compare_methods(
    examples: AlignmentExamples,
    truth: Ragged,
    houses: Houses,
    features: ViewFeatures,
    *,
    landmarks: LandmarkModel | None = None,
    aligner: Aligner | None = None,
) -> dict[str, AlignmentAccuracy]:
    """The accuracy of each method whose model is given, on the true sub-instructions of each episode."""
    found = {"proportional": _proportional_ends(examples)}
    if landmarks is not None:
        named = landmarks_of_texts([" ".join(words) for words in examples.texts], landmarks.vocabulary)
        found["paper"] = align_by_landmarks(
            landmarks.logits(features),
            examples.paths,
            examples.path_of,
            examples.pieces.lengths,
            named.take(examples.pieces.values),
        )
    if aligner is not None:
        found["best"] = aligner.ends(examples, houses, features)
    return {method: evaluate_alignment(ends, truth) for method, ends in found.items()}
