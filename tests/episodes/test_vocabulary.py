from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from babywalk.assets.glove import WordVectors
from babywalk.episodes.vocabulary import SPECIAL, Vocabulary

TEXTS = ["Go to the door.", "Go up.", "The door!"]


def test_words_are_sorted_by_frequency_then_alphabet() -> None:
    assert Vocabulary.of(TEXTS, min_count=2).words == (*SPECIAL, ".", "door", "go", "the")


def test_unknown_words_are_counted() -> None:
    vocabulary = Vocabulary.of(TEXTS, min_count=2)
    encoded = vocabulary.encode(["Go to the zoo.", "", "Zoo"])
    word_ids = vocabulary.word_ids
    assert encoded.tokens[0].tolist() == [word_ids["go"], 1, word_ids["the"], 1, word_ids["."]]
    assert encoded.tokens.lengths.tolist() == [5, 0, 1]
    assert encoded.unknown_counts == {"zoo": 2, "to": 1}


@given(st.lists(st.text(max_size=30), max_size=5))
def test_known_words_round_trip(texts: list[str]) -> None:
    from babywalk.assets.tokens import tokenise

    vocabulary = Vocabulary.of(texts, min_count=1)
    encoded = vocabulary.encode(texts)
    assert not encoded.unknown_counts
    for row, text in enumerate(texts):
        assert [vocabulary.words[number] for number in encoded.tokens[row]] == tokenise(text)


def test_vectors_are_known_random_or_zero_for_padding() -> None:
    vocabulary = Vocabulary((*SPECIAL, "door", "zebra"))
    known = WordVectors(("door", "lamp"), np.array([[1, 2, 3], [5, 6, 7]], dtype=np.float32))
    table = vocabulary.vectors(known, seed=1)
    assert table.shape == (5, 3)
    assert table[0].tolist() == [0, 0, 0]
    assert table[3].tolist() == [1, 2, 3]
    other = Vocabulary((*SPECIAL, "zebra", "door")).vectors(known, seed=1)
    assert other[3].tolist() == table[4].tolist()  # a random row depends on its word, not on its id
    assert vocabulary.vectors(known, seed=2)[4].tolist() != table[4].tolist()


def test_vectors_without_known_ones() -> None:
    assert Vocabulary((*SPECIAL, "door")).vectors(None, width=8).shape == (4, 8)
