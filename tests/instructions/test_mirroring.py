from __future__ import annotations

from babywalk.episodes.vocabulary import SPECIAL, Vocabulary
from babywalk.instructions.mirroring import mirrored

WORDS = Vocabulary((*SPECIAL, "turn", "left", "right", "stop", "there", "leftmost", "rightmost"))


def mirrored_texts(*texts: str) -> list[str]:
    found = mirrored(WORDS.encode(texts).tokens, WORDS.word_ids)
    return [" ".join(WORDS.words[number] for number in found[row]) for row in range(len(texts))]


def test_left_and_right_are_exchanged() -> None:
    assert mirrored_texts("turn left turn right", "leftmost", "right") == [
        "turn right turn left",
        "rightmost",
        "left",
    ]


def test_right_after_stop_is_not_a_side() -> None:
    assert mirrored_texts("stop right there", "turn right") == ["stop right there", "turn left"]
    # The previous word must be of the same text.
    assert mirrored_texts("turn left stop", "right there") == ["turn right stop", "left there"]


def test_mirroring_twice_gives_the_text() -> None:
    texts = WORDS.encode(["turn left stop right", "rightmost turn left", ""]).tokens
    again = mirrored(mirrored(texts, WORDS.word_ids), WORDS.word_ids)
    assert (again.values == texts.values).all()


def test_words_without_a_counterpart_are_unchanged() -> None:
    vocabulary = Vocabulary((*SPECIAL, "left", "turn"))
    texts = vocabulary.encode(["turn left"]).tokens
    assert (mirrored(texts, vocabulary.word_ids).values == texts.values).all()
