"""Instructions for the page: where in the text Baby-Steps, landmarks and words are.

A span is the half-open range of characters (code points) `begin, end`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from babywalk.assets.tokens import tokenise
from babywalk.buildings.objects.labels import singular
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.segmenting import SegmentedStep

Span = tuple[int, int]

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class CutText:
    """An instruction cut into Baby-Steps."""

    text: str
    steps: tuple[Span, ...]
    landmarks: tuple[Span, ...]

    def record(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "steps": [list(step) for step in self.steps],
            "landmarks": [list(one) for one in self.landmarks],
        }

    def tokens(self) -> list[list[int]]:
        """For each Baby-Step, the spans of its tokens one after the other."""
        return [
            [side for span in token_spans(self.text, begin, end) for side in span]
            for begin, end in self.steps
        ]


def cut_episode(steps: BabySteps, episode: int, text: str) -> CutText:
    """The stored Baby-Steps of an episode in its instruction."""
    segmented, texts = steps.segmented, steps.task.walks.texts
    numbers = segmented.of_episodes(steps.task, np.array([episode])).values.tolist()
    sentences: list[Span] = []
    landmarks: list[Span] = []
    cursor = 0
    for number in numbers:
        words = segmented.words_of(number, texts)
        begin = text.index(words, cursor)
        cursor = begin + len(words)
        sentences.append((begin, cursor))
        names = [segmented.phrases[phrase] for phrase in segmented.landmarks[number].tolist()]
        landmarks += landmark_spans(text, begin, cursor, names)
    bounds = np.append(0, np.cumsum(steps.sentences[episode])).tolist()
    cut = [(sentences[first][0], sentences[last - 1][1]) for first, last in pairwise(bounds)]
    return CutText(text, tuple(cut), tuple(landmarks))


def cut_typed(text: str, steps: Sequence[SegmentedStep]) -> CutText:
    """The Baby-Steps of a typed instruction."""
    return CutText(
        text,
        tuple((step.begin, step.end) for step in steps),
        tuple(span for step in steps for span in landmark_spans(text, step.begin, step.end, step.landmarks)),
    )


def landmark_spans(text: str, begin: int, end: int, landmarks: Iterable[str]) -> list[Span]:
    """Where the words of landmarks, which are lemmas, stand in a part of a text."""
    lemmas = {singular(word) for landmark in landmarks for word in landmark.lower().split()}
    return [
        match.span()
        for match in _WORD.finditer(text, begin, end)
        if singular(match.group().lower()) in lemmas
    ]


def token_spans(text: str, begin: int, end: int) -> list[Span]:
    """The span of each token of a part of a text, as the vocabulary counts them."""
    # The lower case of a few letters is longer; they stay as they are, so that positions do not move.
    lower = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
    spans, cursor = [], begin
    for token in tokenise(text[begin:end]):
        found = lower.find(token, cursor, end)
        if found >= 0:
            cursor = found + len(token)
        spans.append((cursor - len(token), cursor) if found >= 0 else (cursor, cursor))
    return spans
