"""The landmarks that a classifier knows, and how a phrase finds its place among them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from babywalk.common.errors import DataError
from babywalk.common.ragged import Ragged, starts
from babywalk.episodes.task import Index
from babywalk.instructions.segmented import SegmentedTexts

UNKNOWN = -1


@dataclass(frozen=True)
class LandmarkVocabulary:
    """Landmarks by number, from frequent to rare.

    A phrase that is not among them counts as its last word, its head: "wooden dining table" is a "table".
    """

    names: tuple[str, ...]

    @classmethod
    def of(cls, found: SegmentedTexts, *, at_least: int) -> LandmarkVocabulary:
        """What at least so many texts name; a phrase too rare to be kept counts for its head."""
        texts = _texts_with(found)
        phrases = np.array(found.phrases, dtype=object)
        frequent = texts >= at_least
        count = dict(zip(phrases[frequent].tolist(), texts[frequent].tolist(), strict=True))
        heads: dict[str, int] = {}
        for phrase, number in zip(phrases[~frequent].tolist(), texts[~frequent].tolist(), strict=True):
            heads[_head(phrase)] = heads.get(_head(phrase), 0) + number
        for head, number in heads.items():
            if head in count or number >= at_least:
                count[head] = count.get(head, 0) + number
        if not count:
            raise DataError(f"No landmark occurs in {at_least} texts, so there is nothing to learn.")
        return cls(tuple(sorted(count, key=lambda name: (-count[name], name))))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    def numbers(self, phrases: Iterable[str]) -> NDArray[np.int32]:
        """The number of each phrase or of its head; UNKNOWN where neither is known."""
        known = self._numbers
        found = [known.get(phrase, known.get(_head(phrase), UNKNOWN)) for phrase in phrases]
        return np.array(found, dtype=np.int32)

    def of_sentences(self, found: SegmentedTexts) -> Ragged:
        """A row for every sentence: the known landmarks it names, each once."""
        number = self.numbers(found.phrases)[found.landmarks.values]
        sentence = np.repeat(np.arange(len(found.landmarks)), found.landmarks.lengths)
        return distinct(sentence[number >= 0], number[number >= 0], len(found.landmarks))

    def of_texts(self, found: SegmentedTexts) -> NDArray[np.bool_]:
        """(T, landmarks) True where a text names a landmark."""
        rows = self.of_sentences(found)
        named = np.zeros((len(found.table.first) - 1, len(self)), dtype=np.bool_)
        named[np.repeat(found.text_of, rows.lengths), rows.values] = True
        return named


def distinct(row: Index, value: Index, rows: int) -> Ragged:
    """Values gathered by row, rising and each once."""
    width = int(value.max(initial=0)) + 1
    code = np.unique(row.astype(np.int64) * width + value)
    lengths = np.bincount(code // width, minlength=rows)
    return Ragged((code % width).astype(np.int32), starts(lengths))


def _texts_with(found: SegmentedTexts) -> NDArray[np.int64]:
    """(phrases,) how many texts name each."""
    text = np.repeat(found.text_of, found.landmarks.lengths)
    once = distinct(text, found.landmarks.values, len(found.table.first) - 1)
    return np.bincount(once.values, minlength=len(found.phrases))


def _head(phrase: str) -> str:
    return phrase.rpartition(" ")[2]
