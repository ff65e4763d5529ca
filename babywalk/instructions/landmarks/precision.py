"""How well landmarks are told from what is seen: average precision over a split's paths, and examples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from babywalk.episodes.walks import Walks
from babywalk.instructions.landmarks.model import LandmarkModel
from babywalk.instructions.landmarks.training import over_paths
from babywalk.instructions.segmented import SegmentedTexts


@dataclass(frozen=True, slots=True)
class Precision:
    """How well texts that name a landmark are ranked before those that do not, by what their paths show."""

    landmark: str
    average: float  # average precision, 1 for a perfect ranking
    chance: float  # the share of texts that name it: what a random ranking reaches
    texts: int  # that name it


@dataclass(frozen=True, slots=True)
class Example:
    """What a text names, and what the classifier finds most likely on its path."""

    text: str
    named: tuple[str, ...]
    found: tuple[tuple[str, float], ...]  # landmarks with their probabilities, the likeliest first


@dataclass(frozen=True, slots=True)
class LandmarkReport:
    """Every landmark that some text names, from common to rare, and examples."""

    landmarks: tuple[Precision, ...]
    examples: tuple[Example, ...]

    @property
    def mean(self) -> float:
        """Mean average precision: every landmark counts the same."""
        return float(np.mean([item.average for item in self.landmarks]))

    @property
    def chance(self) -> float:
        """The mean of what random rankings reach."""
        return float(np.mean([item.chance for item in self.landmarks]))


def average_precision(scores: NDArray[np.float32], relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(V,) the mean, over the relevant rows of a column of scores (R, V), of the precision down to them.

    Rows of one score are one group, as in scikit-learn: their order says nothing. A column without a
    relevant row has no average precision: NaN.
    """
    averages = np.full(scores.shape[1], np.nan)
    for column in np.flatnonzero(relevant.any(axis=0)):
        order = np.argsort(-scores[:, column], kind="stable")
        ranked, hits = scores[order, column], np.cumsum(relevant[order, column])
        last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)  # of each group of equal scores
        gained = np.diff(hits[last], prepend=0)
        averages[column] = (gained * hits[last] / (last + 1)).sum() / hits[-1]
    return averages


def report_landmarks(
    model: LandmarkModel,
    logits: NDArray[np.float32],  # (N, V)
    walks: Walks,
    found: SegmentedTexts,
    *,
    examples: int = 5,
    shown: int = 6,
) -> LandmarkReport:
    """The report on a split, whose sentences are `found`; examples are spread evenly over its texts."""
    names = model.vocabulary.names
    named = model.vocabulary.of_texts(found)
    walk_of = np.repeat(np.arange(len(walks)), np.diff(walks.first_text))
    scores = over_paths(torch.from_numpy(logits), walks.paths).numpy()[walk_of]
    averages = average_precision(scores, named)
    texts = named.sum(axis=0)
    kept = [number for number in np.argsort(-texts, kind="stable").tolist() if texts[number]]
    chosen = np.linspace(0, len(walks.texts) - 1, min(examples, len(walks.texts))).astype(int)
    return LandmarkReport(
        tuple(
            Precision(names[number], float(averages[number]), texts[number] / len(named), int(texts[number]))
            for number in kept
        ),
        tuple(
            _example(walks.texts[text], named[text], scores[text], names, shown) for text in chosen.tolist()
        ),
    )


def _example(
    text: str, named: NDArray[np.bool_], scores: NDArray[np.float32], names: tuple[str, ...], shown: int
) -> Example:
    likely = np.argsort(-scores, kind="stable")[:shown].tolist()
    chance = 1 / (1 + np.exp(-scores.astype(np.float64)))
    return Example(
        text.strip(),
        tuple(names[number] for number in np.flatnonzero(named).tolist()),
        tuple((names[number], float(chance[number])) for number in likely),
    )
