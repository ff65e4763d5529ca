"""Words of instructions: their tags, their lemmas and their places in the text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babywalk.instructions.tagging import Tagger, Word

ODD = {
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


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_odd_texts_are_tagged_and_their_places_are_exact(tagger: Tagger, text: str) -> None:
    (words,) = tagger.tag([text])
    check_places(text, words)


@given(text=st.text())
@settings(deadline=None, max_examples=200)
def test_any_text_is_tagged_and_its_places_are_exact(tagger: Tagger, text: str) -> None:
    (words,) = tagger.tag([text])
    check_places(text, words)


def check_places(text: str, words: tuple[Word, ...]) -> None:
    assert all(word.text == text[word.begin : word.end] for word in words)
    assert all(word.text and word.lemma and word.pos and not word.text.isspace() for word in words)
    begins = [word.begin for word in words]
    assert begins == sorted(begins)
    covered = {place for word in words for place in range(word.begin, word.end)}
    assert len(covered) == sum(len(word.text) for word in words)
    assert covered == {place for place, character in enumerate(text) if not character.isspace()}


def test_texts_and_their_words_come_in_the_same_order(tagger: Tagger) -> None:
    texts = [f"Go to room {number}." for number in range(300)]
    found = ["".join(word.text for word in words) for words in tagger.tag(texts)]
    assert found == [text.replace(" ", "") for text in texts]


def test_texts_are_read_as_they_are_needed(tagger: Tagger) -> None:
    def endless() -> Iterator[str]:
        while True:
            yield "Wait there."

    assert next(tagger.tag(endless()))[0] == Word("Wait", "wait", "VERB", 0, 4)


def test_white_space_does_not_change_the_tags(tagger: Tagger) -> None:
    even = "Walk past the couch and stop. Exit the room on your left. Head upstairs."
    plain, spaced = tagger.tag([even, f"\n {even.replace(' ', '  ')}\t"])
    assert [(word.text, word.lemma, word.pos) for word in plain] == [
        (word.text, word.lemma, word.pos) for word in spaced
    ]


def test_the_same_word_is_a_command_or_a_thing(tagger: Tagger) -> None:
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
def test_things_are_named_by_their_dictionary_form(tagger: Tagger, text: str, lemma: str) -> None:
    (words,) = tagger.tag([text])
    assert (words[-2].lemma, words[-2].pos) == (lemma, "NOUN")
