"""Average precision of the landmark classifier over the paths of a split, and examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from babywalk.common.fitting import DEVICE
from babywalk.episodes.walks import Walks
from babywalk.instructions.landmarks.classifier import LandmarkModel, max_over_paths
from babywalk.instructions.segmented import SegmentedTexts


@dataclass(frozen=True, slots=True)
class Precision:
    """How well texts that name a landmark are ranked before the others, by the logits of their paths."""

    landmark: str
    average: float  # average precision, 1 for a perfect ranking
    chance: float  # the fraction of texts that name it, which is what a random ranking reaches
    texts: int  # that name it


@dataclass(frozen=True, slots=True)
class Example:
    """A text, the landmarks that it names, and the likeliest landmarks of its path."""

    text: str
    named: tuple[str, ...]
    found: tuple[tuple[str, float], ...]  # landmarks with their probabilities, the likeliest first


@dataclass(frozen=True, slots=True)
class LandmarkReport:
    """The precision of every landmark that a text names, from common to rare, and examples."""

    landmarks: tuple[Precision, ...]
    examples: tuple[Example, ...]

    @property
    def mean(self) -> float:
        """Mean average precision over landmarks."""
        return float(np.mean([item.average for item in self.landmarks]))

    @property
    def chance(self) -> float:
        """The mean of what random rankings reach."""
        return float(np.mean([item.chance for item in self.landmarks]))


def average_precision(scores: NDArray[np.float32], relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(V,) the average precision of each column of scores (R, V).

    Rows with equal scores form one group, as in scikit-learn. A column without a relevant row is NaN.
    """
    averages = np.full(scores.shape[1], np.nan)
    for column in np.flatnonzero(relevant.any(axis=0)):
        order = np.argsort(-scores[:, column], kind="stable")
        ranked, hits = scores[order, column], np.cumsum(relevant[order, column])
        last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)  # of each group of equal scores
        new_hits = np.diff(hits[last], prepend=0)
        averages[column] = (new_hits * hits[last] / (last + 1)).sum() / hits[-1]
    return averages


def report_landmarks(
    model: LandmarkModel,
    logits: NDArray[np.float32],  # (N, V)
    walks: Walks,
    segmented: SegmentedTexts,
    *,
    examples: int = 5,
    shown: int = 6,
) -> LandmarkReport:
    """The report on a split whose sentences are `segmented`; examples are evenly spaced over its texts."""
    names = model.vocabulary.names
    named = model.vocabulary.of_texts(segmented)
    walk_of_text = np.repeat(np.arange(len(walks)), np.diff(walks.first_text))
    scores = max_over_paths(torch.as_tensor(logits, device=DEVICE), walks.paths).numpy()[walk_of_text]
    averages = average_precision(scores, named)
    texts = named.sum(axis=0)
    by_frequency = [number for number in np.argsort(-texts, kind="stable").tolist() if texts[number]]
    chosen = np.linspace(0, len(walks.texts) - 1, min(examples, len(walks.texts))).astype(int)
    return LandmarkReport(
        tuple(
            Precision(names[number], float(averages[number]), texts[number] / len(named), int(texts[number]))
            for number in by_frequency
        ),
        tuple(
            _example(walks.texts[text], named[text], scores[text], names, shown) for text in chosen.tolist()
        ),
    )


def _example(
    text: str, named: NDArray[np.bool_], scores: NDArray[np.float32], names: tuple[str, ...], shown: int
) -> Example:
    likeliest = np.argsort(-scores, kind="stable")[:shown].tolist()
    probability = 1 / (1 + np.exp(-scores.astype(np.float64)))
    return Example(
        text.strip(),
        tuple(names[number] for number in np.flatnonzero(named).tolist()),
        tuple((names[number], float(probability[number])) for number in likeliest),
    )
