"""Aligning the Baby-Steps of a task with its paths, by any of three methods.

proportional   in proportion to words: the control, which needs nothing
paper          by landmarks alone, the dynamic programme of appendix A.2
best           by everything that words say of walking and looking: the learned aligner
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from babywalk.buildings.features import ViewFeatures
from babywalk.common.errors import ConfigError, unknown
from babywalk.common.ragged import Ragged
from babywalk.instructions.alignment.aligner import Aligner
from babywalk.instructions.alignment.alignment_examples import examples_from_babysteps
from babywalk.instructions.alignment.paper import align_by_landmarks, landmarks_of_steps
from babywalk.instructions.alignment.proportional import proportional
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.landmarks.model import LandmarkModel

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
        raise ConfigError(f"joints = true works with method 'best' alone, not with {method!r}.")
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
        told = examples_from_babysteps(steps)
        return told.at_steps(proportional(told.word_counts, told.states))
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
