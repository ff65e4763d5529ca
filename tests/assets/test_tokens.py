from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babywalk.assets.r2r import r2r_file, read_walks
from babywalk.assets.tokens import tokenise


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Walk past the couch, then stop.", ["walk", "past", "the", "couch", ",", "then", "stop", "."]),
        ("Go... up!?", ["go", "...", "up", "!", "?"]),
        ("the 1.5 m door", ["the", "1", ".", "5", "m", "door"]),
        ("don't", ["don", "'", "t"]),
        ('say "go",now', ["say", '"', "go", '"', ",", "now"]),
        ("", []),
        ("  ...  ", ["..."]),
    ],
)
def test_the_r2r_tokenisation(text: str, tokens: list[str]) -> None:
    assert tokenise(text) == tokens


@given(st.text(), st.text())
def test_joined_texts_have_the_tokens_of_both(first: str, second: str) -> None:
    assert tokenise(first + " x " + second) == [*tokenise(first + " x"), *tokenise(second)]


@pytest.mark.real
@pytest.mark.parametrize(("split", "mean"), [("train", 29.41), ("val_unseen", 29.25)])
def test_mean_words_of_the_real_instructions(real_data: Path, split: str, mean: float) -> None:
    texts = [text for walk in read_walks(r2r_file(real_data / "R2R", split)) for text in walk.instructions]
    assert round(sum(len(tokenise(text)) for text in texts) / len(texts), 2) == mean
