"""Words of instructions: their tags, their lemmas and their positions in the text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babywalk.instructions.tagging import Tagger, Word
from babywalk.instructions.tagging.tagger import single_line

UNUSUAL = {
    "empty": "",
    "only white space": " \n\t\r ",
    "emoji": "Walk 👨‍👩‍👧 past the 🛋️ sofa 😀.",
    "half an emoji": "Walk \ud83d past",
    "capitals": "TURN LEFT AND EXIT THE ROOM!!!",
    "many words": "Turn left at the stairs. " * 1000,
    "one long word": "a" * 50_000,
    "German": "Gehen Sie die Treppe hinauf und biegen Sie links ab.",
    "Chinese": "穿过走廊,然后左转。",
    "Arabic": "اذهب إلى المطبخ",
    "white space": "\r\nWalk\t\tup  the\u00a0stairs\u2003then  \n\nstop .\n",
    "marks": "...,,,;;--((]]''\"\"%%$$##@@!!??",
    "null": "Walk\x00past",
    "combining": "cafe\u0301 doorway",
}


@pytest.mark.parametrize("text", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_unusual_texts_are_tagged_with_exact_positions(tagger: Tagger, text: str) -> None:
    (words,) = tagger.tag([text])
    check_positions(text, words)


@given(text=st.text())
@settings(deadline=None, max_examples=200)
def test_any_text_is_tagged_with_exact_positions(tagger: Tagger, text: str) -> None:
    (words,) = tagger.tag([text])
    check_positions(text, words)


def check_positions(text: str, words: tuple[Word, ...]) -> None:
    assert all(word.text == text[word.begin : word.end] for word in words)
    assert all(word.text and word.lemma and word.pos and not word.text.isspace() for word in words)
    begins = [word.begin for word in words]
    assert begins == sorted(begins)
    covered = {position for word in words for position in range(word.begin, word.end)}
    assert len(covered) == sum(len(word.text) for word in words)
    assert covered == {position for position, character in enumerate(text) if not character.isspace()}


def test_texts_and_their_words_come_in_the_same_order(tagger: Tagger) -> None:
    texts = [f"Go to room {number}." for number in range(300)]
    found = ["".join(word.text for word in words) for words in tagger.tag(texts)]
    assert found == [text.replace(" ", "") for text in texts]


def test_texts_are_read_lazily(tagger: Tagger) -> None:
    def endless() -> Iterator[str]:
        while True:
            yield "Wait there."

    assert next(tagger.tag(endless()))[0] == Word("Wait", "wait", "VERB", 0, 4)


def test_white_space_does_not_change_the_tags(tagger: Tagger) -> None:
    text = "Walk past the couch and stop. Exit the room on your left. Head upstairs."
    plain, spaced = tagger.tag([text, f"\n {text.replace(' ', '  ')}\t"])
    assert [(word.text, word.lemma, word.pos) for word in plain] == [
        (word.text, word.lemma, word.pos) for word in spaced
    ]


def test_the_same_word_is_tagged_as_verb_or_noun(tagger: Tagger) -> None:
    text = "Exit the room. Wait by the exit. Head to the landing. Face the bed and step onto the rug."
    (words,) = tagger.tag([text])
    assert [
        (word.text, word.pos) for word in words if word.text.lower() in {"exit", "head", "face", "step"}
    ] == [
        ("Exit", "VERB"),
        ("exit", "NOUN"),
        ("Head", "VERB"),
        ("Face", "VERB"),
        ("step", "VERB"),
    ]


@pytest.mark.parametrize(
    "text", ["Head past the tables.", "head past the tables", "HEAD PAST THE TABLES.", "Head past the tables"]
)
def test_case_and_a_missing_period_do_not_change_the_tags(tagger: Tagger, text: str) -> None:
    (words,) = tagger.tag([text])
    assert [(word.lemma, word.pos) for word in words[:4]] == [
        ("head", "VERB"),
        ("past", "ADP"),
        ("the", "DET"),
        ("table", "NOUN"),
    ]


@pytest.mark.parametrize(
    ("text", "lemma"),
    [
        ("Go up the stairs.", "stair"),
        ("Walk between the couches.", "couch"),
        ("Stop at the glass.", "glass"),
        ("Pass the glasses.", "glass"),
        ("Stop by the shelves.", "shelf"),
        ("Pass the vases.", "vase"),
        ("Walk past the benches.", "bench"),
        ("Stop at the boxes.", "box"),
        ("Stand with your back to the SOFAS.", "sofa"),
    ],
)
def test_nouns_have_their_dictionary_form_as_lemma(tagger: Tagger, text: str, lemma: str) -> None:
    (words,) = tagger.tag([text])
    assert (words[-2].lemma, words[-2].pos) == (lemma, "NOUN")


def test_a_text_with_single_spaces_is_unchanged() -> None:
    assert single_line("Walk past the bed. ") == ("Walk past the bed. ", range(19))


@pytest.mark.parametrize(
    ("text", "line", "positions"),
    [
        ("", "", []),
        (" \n\t", "", []),
        ("  a", "a", [2]),
        ("a  bc\r\n\nd  ", "a bc d", [0, 1, 3, 4, 5, 8]),
        ("a\u00a0b", "a b", [0, 1, 2]),
        ("a \ud83d", "a \ufffd", [0, 1, 2]),
    ],
)
def test_white_space_becomes_single_spaces(text: str, line: str, positions: list[int]) -> None:
    found = single_line(text)
    assert (found.text, list(found.positions)) == (line, positions)


@given(st.text(st.sampled_from("ab. \t\n\u00a0\u2003\ud83d")))
def test_every_character_has_its_position_in_the_given_text(text: str) -> None:
    line, positions = single_line(text)
    assert len(line) == len(positions)
    for character, position in zip(line, positions, strict=True):
        assert (
            character == text[position]
            or (character == " " and text[position].isspace())
            or character == "\ufffd"
        )
    assert line.split() == text.replace("\ud83d", "\ufffd").split()
