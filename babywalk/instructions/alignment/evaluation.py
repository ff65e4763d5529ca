"""How well ends are placed, against what people (or the Dollhouse's narrator) say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from babywalk.buildings.features import ViewFeatures
from babywalk.buildings.houses import Houses
from babywalk.common.errors import DataError
from babywalk.common.ragged import Ragged
from babywalk.instructions.alignment.aligner import Aligner
from babywalk.instructions.alignment.alignment_examples import AlignmentExamples
from babywalk.instructions.alignment.paper import align_by_landmarks, landmarks_of_texts
from babywalk.instructions.alignment.proportional import proportional
from babywalk.instructions.landmarks.model import LandmarkModel


@dataclass(frozen=True, slots=True)
class AlignmentAccuracy:
    """Shares of inner ends, those of all steps but each episode's last, which is at the goal by rule."""

    exact: float
    within_one: float  # viewpoint of the path
    ends: int


def evaluate_alignment(ends: Ragged, truth: Ragged) -> AlignmentAccuracy:
    """Compare the ends of the steps of the same episodes."""
    if not np.array_equal(ends.start, truth.start):
        raise DataError("The alignments to be compared are of different steps.")
    inner = np.ones(len(truth.values), dtype=np.bool_)
    inner[truth.start[1:][truth.lengths > 0] - 1] = False
    if not inner.any():
        raise DataError("No episode has two steps: there are no ends to be compared.")
    off = np.abs(ends.values[inner] - truth.values[inner])
    return AlignmentAccuracy(float((off == 0).mean()), float((off <= 1).mean()), int(inner.sum()))


def compare_methods(
    told: AlignmentExamples,
    truth: Ragged,
    houses: Houses,
    features: ViewFeatures,
    *,
    landmarks: LandmarkModel | None = None,
    aligner: Aligner | None = None,
) -> dict[str, AlignmentAccuracy]:
    """Every method that there is a model for, given the true sub-instructions of each episode."""
    found = {"proportional": told.at_steps(proportional(told.word_counts, told.states))}
    if landmarks is not None:
        named = landmarks_of_texts([" ".join(words) for words in told.texts], landmarks.vocabulary)
        found["paper"] = align_by_landmarks(
            landmarks.logits(features),
            told.paths,
            told.path_of,
            told.pieces.lengths,
            named.take(told.pieces.values),
        )
    if aligner is not None:
        found["best"] = aligner.ends(told, houses, features)
    return {method: evaluate_alignment(ends, truth) for method, ends in found.items()}
