"""The landmarks that a classifier knows, and the mapping from phrases to their numbers."""

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

    An unknown phrase counts as its last word, its head: "wooden dining table" is a "table".
    """

    names: tuple[str, ...]

    @classmethod
    def of(cls, segmented: SegmentedTexts, *, at_least: int) -> LandmarkVocabulary:
        """The landmarks that at least so many texts name; rarer phrases are counted as their heads."""
        texts = _texts_per_phrase(segmented)
        phrases = np.array(segmented.phrases, dtype=object)
        frequent = texts >= at_least
        count = dict(zip(phrases[frequent].tolist(), texts[frequent].tolist(), strict=True))
        heads: dict[str, int] = {}
        for phrase, number in zip(phrases[~frequent].tolist(), texts[~frequent].tolist(), strict=True):
            heads[_head(phrase)] = heads.get(_head(phrase), 0) + number
        for head, number in heads.items():
            if head in count or number >= at_least:
                count[head] = count.get(head, 0) + number
        if not count:
            raise DataError(
                f"No landmark is named in {at_least} texts. Use more texts, or a smaller at_least."
            )
        return cls(tuple(sorted(count, key=lambda name: (-count[name], name))))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    def numbers(self, phrases: Iterable[str]) -> NDArray[np.int32]:
        """The number of each phrase or of its head; UNKNOWN where neither is in the vocabulary."""
        known = self._numbers
        found = [known.get(phrase, known.get(_head(phrase), UNKNOWN)) for phrase in phrases]
        return np.array(found, dtype=np.int32)

    def of_sentences(self, segmented: SegmentedTexts) -> Ragged:
        """A row for every sentence: the known landmarks that it names, without repeats."""
        number = self.numbers(segmented.phrases)[segmented.landmarks.values]
        sentence = np.repeat(np.arange(len(segmented.landmarks)), segmented.landmarks.lengths)
        return unique_per_row(sentence[number >= 0], number[number >= 0], len(segmented.landmarks))

    def of_texts(self, segmented: SegmentedTexts) -> NDArray[np.bool_]:
        """(T, V) True where a text names a landmark."""
        rows = self.of_sentences(segmented)
        named = np.zeros((len(segmented.table.first) - 1, len(self)), dtype=np.bool_)
        named[np.repeat(segmented.text_of, rows.lengths), rows.values] = True
        return named


def unique_per_row(row: Index, value: Index, rows: int) -> Ragged:
    """Values grouped by row, in ascending order and without repeats."""
    width = int(value.max(initial=0)) + 1
    code = np.unique(row.astype(np.int64) * width + value)
    lengths = np.bincount(code // width, minlength=rows)
    return Ragged((code % width).astype(np.int32), starts(lengths))


def _texts_per_phrase(segmented: SegmentedTexts) -> NDArray[np.int64]:
    """(phrases,) how many texts name each."""
    text = np.repeat(segmented.text_of, segmented.landmarks.lengths)
    unique = unique_per_row(text, segmented.landmarks.values, len(segmented.table.first) - 1)
    return np.bincount(unique.values, minlength=len(segmented.phrases))


def _head(phrase: str) -> str:
    return phrase.rpartition(" ")[2]
