from __future__ import annotations

import pytest

from babywalk.common.errors import DataError
from babywalk.instructions.landmarks.vocabulary import UNKNOWN, LandmarkVocabulary
from babywalk.instructions.segmented import SegmentedTexts
from babywalk.instructions.sentences import Sentence


def texts(*rows: list[tuple[str, ...]]) -> SegmentedTexts:
    """Texts of sentences, each given by its landmarks."""
    return SegmentedTexts.of(
        [[Sentence(10 * number, 10 * number + 9, names) for number, names in enumerate(row)] for row in rows],
        frozenset(),
    )


def test_what_many_texts_name_is_kept_from_frequent_to_rare() -> None:
    found = texts([("bed",), ("bed", "lamp")], [("lamp",)], [("lamp", "bed")], [("vase",)])
    assert LandmarkVocabulary.of(found, at_least=2).names == ("lamp", "bed")


def test_a_text_counts_once_however_often_it_names_a_landmark() -> None:
    found = texts([("bed", "bed"), ("bed",)], [("lamp",)], [("lamp",)])
    assert LandmarkVocabulary.of(found, at_least=2).names == ("lamp",)


def test_rare_phrases_count_for_their_heads() -> None:
    found = texts([("red door",)], [("blue door",)], [("dining room",)], [("dining room",)])
    known = LandmarkVocabulary.of(found, at_least=2)
    assert known.names == ("dining room", "door")


def test_a_phrase_backs_off_to_its_last_word() -> None:
    known = LandmarkVocabulary(("table", "dining room"))
    assert known.numbers(["dining room", "dining room table", "table top"]).tolist() == [1, 0, UNKNOWN]


def test_sentences_and_texts_as_landmarks() -> None:
    found = texts([("red door", "blue door"), ("ufo",)], [("bed", "door")])
    known = LandmarkVocabulary(("door", "bed"))
    assert [known.of_sentences(found)[row].tolist() for row in range(3)] == [[0], [], [0, 1]]
    assert known.of_texts(found).tolist() == [[True, False], [True, True]]


def test_nothing_is_frequent_enough() -> None:
    with pytest.raises(DataError, match="No landmark occurs in 5 texts"):
        LandmarkVocabulary.of(texts([("bed",)]), at_least=5)
