"""Texts on one line, and the way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babywalk.instructions.tagging.flat import flatten


def test_an_even_text_is_left_as_it_is() -> None:
    assert flatten("Walk past the bed. ") == ("Walk past the bed. ", range(19))


@pytest.mark.parametrize(
    ("text", "flat", "places"),
    [
        ("", "", []),
        (" \n\t", "", []),
        ("  a", "a", [2]),
        ("a  bc\r\n\nd  ", "a bc d", [0, 1, 3, 4, 5, 8]),
        ("a\u00a0b", "a b", [0, 1, 2]),
        ("a \ud83d", "a \ufffd", [0, 1, 2]),
    ],
)
def test_white_space_becomes_single_spaces(text: str, flat: str, places: list[int]) -> None:
    line, found = flatten(text)
    assert (line, list(found)) == (flat, places)


@given(st.text(st.sampled_from("ab. \t\n\u00a0\u2003\ud83d")))
def test_every_character_finds_its_place(text: str) -> None:
    line, places = flatten(text)
    assert len(line) == len(places)
    for character, place in zip(line, places, strict=True):
        assert (
            character == text[place] or (character == " " and text[place].isspace()) or character == "\ufffd"
        )
    assert line.split() == text.replace("\ud83d", "\ufffd").split()
