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


def test_frequent_landmarks_are_ordered_from_frequent_to_rare() -> None:
    segmented = texts([("bed",), ("bed", "lamp")], [("lamp",)], [("lamp", "bed")], [("vase",)])
    assert LandmarkVocabulary.of(segmented, at_least=2).names == ("lamp", "bed")


def test_a_text_counts_once_for_a_landmark_named_twice() -> None:
    segmented = texts([("bed", "bed"), ("bed",)], [("lamp",)], [("lamp",)])
    assert LandmarkVocabulary.of(segmented, at_least=2).names == ("lamp",)


def test_rare_phrases_count_as_their_last_word() -> None:
    segmented = texts([("red door",)], [("blue door",)], [("dining room",)], [("dining room",)])
    vocabulary = LandmarkVocabulary.of(segmented, at_least=2)
    assert vocabulary.names == ("dining room", "door")


def test_unknown_phrases_are_looked_up_by_their_last_word() -> None:
    vocabulary = LandmarkVocabulary(("table", "dining room"))
    assert vocabulary.numbers(["dining room", "dining room table", "table top"]).tolist() == [1, 0, UNKNOWN]


def test_landmarks_of_sentences_and_of_texts() -> None:
    segmented = texts([("red door", "blue door"), ("ufo",)], [("bed", "door")])
    vocabulary = LandmarkVocabulary(("door", "bed"))
    assert [vocabulary.of_sentences(segmented)[row].tolist() for row in range(3)] == [[0], [], [0, 1]]
    assert vocabulary.of_texts(segmented).tolist() == [[True, False], [True, True]]


def test_no_frequent_landmark_is_an_error() -> None:
    with pytest.raises(DataError, match="No landmark is named in 5 texts"):
        LandmarkVocabulary.of(texts([("bed",)]), at_least=5)
