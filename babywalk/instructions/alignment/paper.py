"""The alignment of the paper's appendix A.2: landmark scores Psi, and the dynamic programme Phi over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from babywalk.common.ragged import Ragged, starts
from babywalk.instructions.alignment.segmentation import Potentials, best_ends, buckets
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.landmarks.vocabulary import LandmarkVocabulary, unique_per_row
from babywalk.instructions.segmenting import segment_texts
from babywalk.instructions.sentences import WordLists


def psi(
    logits: NDArray[np.float32],  # (N, V) of every viewpoint
    viewpoints: NDArray[np.int32],  # (B, T), -1 after the last
    landmarks: NDArray[np.int32],  # (B, M, O), -1 after the last
) -> NDArray[np.float32]:  # (B, M, T)
    """Psi(t, m): the mean logit at state t of the landmarks that step m names; 0 where it names none."""
    padded = np.concatenate([logits[viewpoints], np.zeros((*viewpoints.shape, 1), np.float32)], axis=2)
    rows = np.arange(len(viewpoints))[:, None, None, None]
    states = np.arange(viewpoints.shape[1])[:, None]
    total = padded[rows, states, landmarks[:, :, None, :]].sum(axis=3)  # -1 takes the zero at the end
    count = np.maximum(1, (landmarks >= 0).sum(axis=2, dtype=np.float32))
    mean: NDArray[np.float32] = total / count[..., None]
    return mean


def phi(
    scores: NDArray[np.float32],  # (B, M, T)
    steps: NDArray[np.int64],  # (B,)
    states: NDArray[np.int64],  # (B,)
) -> NDArray[np.int32]:  # (B, M), undefined after an episode's last step
    """The end states of the Bellman equation Phi(t, m) = Psi(t, m) + max over i < t of Phi(i, m - 1).

    Read literally, only end states score, and each step ends after the one before. An episode with more
    steps than states has no such solution: there i = t is allowed too, so that steps may share a state.
    """
    _, longest, width = scores.shape
    span = np.zeros((longest, width, len(scores)), dtype=np.float32)
    span[1:, 0, steps <= states] = -np.inf
    end = np.ascontiguousarray(scores.transpose(1, 2, 0))
    return best_ends(Potentials(end=end, span=span), steps, states)


def align_by_landmarks(
    logits: NDArray[np.float32],  # (N, V)
    paths: Ragged,  # C rows of viewpoints
    path_of: NDArray[np.int64],  # (E,)
    steps: NDArray[np.int64],  # (E,) steps of each episode
    landmarks: Ragged,  # a row for each step of each episode: the landmarks it names
) -> Ragged:
    """E rows: where the steps of each episode end."""
    start, states = starts(steps), paths.lengths[path_of]
    ends = np.empty(int(start[-1]), dtype=np.int32)
    for rows in buckets(steps, states):
        width = int(steps[rows].max())
        valid = np.arange(width) < steps[rows, None]  # (B, M) True where there is a step
        step = np.where(valid, start[rows, None] + np.arange(width), 0)
        named = landmarks.take(step.ravel()).padded().reshape(len(rows), width, -1)
        scores = psi(logits, paths.take(path_of[rows]).padded(), named)
        ends[step[valid]] = phi(scores, steps[rows], states[rows])[valid]
    return Ragged(ends, start)


def landmarks_of_texts(texts: Sequence[str], vocabulary: LandmarkVocabulary) -> Ragged:
    """A row for each text: the landmarks it names, without repeats."""
    segmented = segment_texts(texts, lists=WordLists(), workers=1)
    named = vocabulary.of_sentences(segmented)
    return unique_per_row(np.repeat(segmented.text_of, named.lengths), named.values, len(texts))


def landmarks_of_steps(steps: BabySteps, vocabulary: LandmarkVocabulary) -> Ragged:
    """A row for each step of each episode: the landmarks it names, without repeats."""
    sentences = steps.segmented.of_episodes(steps.task, np.arange(len(steps)))
    named = vocabulary.of_sentences(steps.segmented).take(sentences.values)
    step = np.repeat(np.arange(len(steps.sentences.values)), steps.sentences.values)
    return unique_per_row(np.repeat(step, named.lengths), named.values, len(steps.sentences.values))
