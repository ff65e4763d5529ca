from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from babywalk.assets.glove import WordVectors
from babywalk.episodes.vocabulary import SPECIAL, Vocabulary

TEXTS = ["Go to the door.", "Go up.", "The door!"]


def test_words_from_frequent_to_rare_and_then_by_alphabet() -> None:
    assert Vocabulary.of(TEXTS, at_least=2).words == (*SPECIAL, ".", "door", "go", "the")


def test_unknown_words_are_counted() -> None:
    vocabulary = Vocabulary.of(TEXTS, at_least=2)
    encoded = vocabulary.encode(["Go to the zoo.", "", "Zoo"])
    numbers = vocabulary.numbers
    assert encoded.tokens[0].tolist() == [numbers["go"], 1, numbers["the"], 1, numbers["."]]
    assert encoded.tokens.lengths.tolist() == [5, 0, 1]
    assert encoded.missed == {"zoo": 2, "to": 1}
    assert encoded.unknown_share == 0.5


@given(st.lists(st.text(max_size=30), max_size=5))
def test_known_words_come_back(texts: list[str]) -> None:
    from babywalk.assets.tokens import tokenise

    vocabulary = Vocabulary.of(texts, at_least=1)
    encoded = vocabulary.encode(texts)
    assert not encoded.missed
    for row, text in enumerate(texts):
        assert [vocabulary.words[number] for number in encoded.tokens[row]] == tokenise(text)


def test_vectors_known_drawn_and_padding() -> None:
    vocabulary = Vocabulary((*SPECIAL, "door", "zebra"))
    known = WordVectors(("door", "lamp"), np.array([[1, 2, 3], [5, 6, 7]], dtype=np.float32))
    table = vocabulary.vectors(known, seed=1)
    assert table.shape == (5, 3)
    assert table[0].tolist() == [0, 0, 0]
    assert table[3].tolist() == [1, 2, 3]
    other = Vocabulary((*SPECIAL, "zebra", "door")).vectors(known, seed=1)
    assert other[3].tolist() == table[4].tolist()  # a drawn row depends on its word, not on its number
    assert vocabulary.vectors(known, seed=2)[4].tolist() != table[4].tolist()


def test_vectors_without_any_known() -> None:
    assert Vocabulary((*SPECIAL, "door")).vectors(None, width=8).shape == (4, 8)
