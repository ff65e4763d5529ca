from __future__ import annotations

from babywalk.episodes.vocabulary import SPECIAL, Vocabulary
from babywalk.instructions.mirroring import mirrored

WORDS = Vocabulary((*SPECIAL, "turn", "left", "right", "stop", "there", "leftmost", "rightmost"))


def told(*texts: str) -> list[str]:
    """What a mirror makes of texts."""
    found = mirrored(WORDS.encode(texts).tokens, WORDS.numbers)
    return [" ".join(WORDS.words[number] for number in found[row]) for row in range(len(texts))]


def test_left_is_right() -> None:
    assert told("turn left turn right", "leftmost", "right") == ["turn right turn left", "rightmost", "left"]


def test_who_stops_right_there_means_no_side() -> None:
    assert told("stop right there", "turn right") == ["stop right there", "turn left"]
    # The word before is looked for in the same text, not in the one above it.
    assert told("turn left stop", "right there") == ["turn right stop", "left there"]


def test_a_mirror_of_a_mirror_shows_what_is() -> None:
    texts = WORDS.encode(["turn left stop right", "rightmost turn left", ""]).tokens
    again = mirrored(mirrored(texts, WORDS.numbers), WORDS.numbers)
    assert (again.values == texts.values).all()


def test_words_without_a_counterpart_stay() -> None:
    lonely = Vocabulary((*SPECIAL, "left", "turn"))
    texts = lonely.encode(["turn left"]).tokens
    assert (mirrored(texts, lonely.numbers).values == texts.values).all()
