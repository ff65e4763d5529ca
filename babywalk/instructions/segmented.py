"""The sentences of the texts of a split, shared by all tasks that are made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.data_directory import StoredComponent, component
from babywalk.assets.records import Record
from babywalk.common.array_files import Shape, check_range, checked_ragged, read_arrays
from babywalk.common.errors import DataError
from babywalk.common.files import read_json, write_json
from babywalk.common.ragged import Ragged, ranges, starts
from babywalk.episodes.task import Index, Task
from babywalk.instructions.identification import SentenceTable
from babywalk.instructions.sentences import Sentence

_FLAGS = ("landmark", "verb", "plain_verb", "stops", "leads")
_ARRAYS = ("first", *_FLAGS, "length")


@dataclass(frozen=True, eq=False)
class SegmentedTexts:
    """Every sentence of many texts, in one numbering. Shapes: T texts, S sentences."""

    table: SentenceTable
    begin: NDArray[np.int32]  # (S,) the position of its first character in its text
    landmarks: Ragged  # S rows of numbers of `phrases`
    phrases: tuple[str, ...]  # the distinct landmarks, such as "dining room table"
    verbs: Ragged  # S rows of numbers of `actions`
    actions: tuple[str, ...]  # the distinct verbs, as lemmas

    @classmethod
    def of(cls, texts: Sequence[Sequence[Sentence]], stop_words: frozenset[str]) -> SegmentedTexts:
        """From the sentences of each text."""
        flat = [sentence for text in texts for sentence in text]
        landmarks, phrases = _numbered([sentence.landmarks for sentence in flat])
        verbs, actions = _numbered([sentence.verbs for sentence in flat])
        return cls(
            table=SentenceTable.of(texts, stop_words),
            begin=np.array([sentence.begin for sentence in flat], dtype=np.int32),
            landmarks=landmarks,
            phrases=phrases,
            verbs=verbs,
            actions=actions,
        )

    @cached_property
    def text_of(self) -> NDArray[np.int64]:
        """(S,) the text of each sentence."""
        return np.repeat(np.arange(len(self.table.first) - 1), np.diff(self.table.first))

    def of_episodes(self, task: Task, episodes: Index) -> Ragged:
        """Row i: the sentences of episode i, text after text."""
        texts = task.texts_of(episodes)
        count = np.diff(self.table.first)[texts]
        flat = ranges(self.table.first[texts].ravel(), count.ravel()).astype(np.int32)
        return Ragged(flat, starts(count.sum(axis=-1)))

    def words_of(self, sentence: int, texts: Sequence[str]) -> str:
        """The characters of a sentence in its text."""
        begin = int(self.begin[sentence])
        return texts[int(self.text_of[sentence])][begin : begin + int(self.table.length[sentence])]


def save_segmented(
    folder: Path, segmented: SegmentedTexts, *, facts: Mapping[str, object], notes: Sequence[str]
) -> None:
    """Write the sentences of a split as a component of a data directory."""
    with component(folder, "sentences of R2R texts", notes=notes, details=facts) as draft:
        with (draft.folder / "sentences.npz").open("wb") as out:
            np.savez(
                out,
                begin=segmented.begin,
                landmarks=segmented.landmarks.values,
                landmark_start=segmented.landmarks.start,
                verbs=segmented.verbs.values,
                verb_start=segmented.verbs.start,
                **{name: getattr(segmented.table, name) for name in _ARRAYS},
            )
        write_json(draft.folder / "words.json", {"landmarks": segmented.phrases, "verbs": segmented.actions})


def load_segmented(stored: StoredComponent, texts: Sequence[str]) -> SegmentedTexts:
    """Read what `save_segmented` wrote for the texts."""
    with stored.reading("words.json") as file:
        words = Record.of(file, "the file", read_json(file))
        phrases, actions = words.optional_strings("landmarks"), words.optional_strings("verbs")
    any_length: Shape = (None,)
    numbers = ("first", "length", "begin", "landmarks", "landmark_start", "verbs", "verb_start")
    expected = [*((name, "i", any_length) for name in numbers), *((name, "b", any_length) for name in _FLAGS)]
    with stored.reading("sentences.npz") as file:
        found = read_arrays(file, expected)
        table = SentenceTable(**{name: found[name] for name in _ARRAYS})
        landmarks = checked_ragged(file, "landmarks", found["landmarks"], found["landmark_start"])
        verbs = checked_ragged(file, "verbs", found["verbs"], found["verb_start"])
        count = len(table.length)
        rows = checked_ragged(file, "sentences", table.length, table.first)
        sizes = [len(landmarks), len(verbs), *(len(found[name]) for name in ("begin", *_FLAGS))]
        if len(rows) != len(texts) or any(size != count for size in sizes):
            raise DataError(f"{file}: does not have the sentences of {len(texts):,} instructions.")
        check_range(file, "numbers of landmarks", landmarks.values, 0, len(phrases))
        check_range(file, "numbers of verbs", verbs.values, 0, len(actions))
        longest = max(map(len, texts), default=0) + 1
        check_range(file, "positions in an instruction", found["begin"], 0, longest)
        check_range(file, "lengths of sentences", table.length, 0, longest)
    return SegmentedTexts(table, found["begin"], landmarks, phrases, verbs, actions)


def _numbered(rows: Sequence[Sequence[str]]) -> tuple[Ragged, tuple[str, ...]]:
    """Rows of words as rows of numbers, and the words in alphabetical order."""
    words = sorted({word for row in rows for word in row})
    number = {word: index for index, word in enumerate(words)}
    return Ragged.of([[number[word] for word in row] for row in rows]), tuple(words)
