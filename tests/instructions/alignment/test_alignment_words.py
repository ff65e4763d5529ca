from __future__ import annotations

import pytest

from babywalk.common.errors import DataError
from babywalk.instructions.alignment.lexicon import Lexicon
from babywalk.instructions.alignment.words import clauses, stem, stems


@pytest.mark.parametrize(
    ("word", "root"),
    [
        ("stairs", "stair"),
        ("walking", "walk"),
        ("stopping", "stop"),
        ("closed", "clos"),
        ("close", "clos"),
        ("hall", "hall"),
        ("glass", "glass"),
        ("go", "go"),
        ("bed", "bed"),
    ],
)
def test_words_lose_their_endings(word: str, root: str) -> None:
    assert stem(word) == root


def test_punctuation_is_no_word() -> None:
    assert stems(["turn", ",", "left", "..."]) == ("turn", "left")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Walk up the stairs. Stop.", ["walk up the stairs stop"]),
        ("Exit the bedroom, cross the room and stop near the divider.",
         ["exit the bedroom", "cross the room", "and stop near the divider"]),
        ("Go past the table and chairs then turn left", ["go past the table and chairs", "then turn left"]),
        ("Turn left, walk out", ["turn left walk out"]),
        ("Turn left. Walk on!", ["turn left", "walk on"]),
        ("...", [""]),
        ("", [""]),
    ],
)  # fmt: skip
def test_clauses_tell_of_one_move_each(text: str, expected: list[str]) -> None:
    assert [" ".join(clause) for clause in clauses(text)] == expected


def test_a_lexicon_hears_what_is_frequent() -> None:
    lexicon = Lexicon.of([("turn", "left"), ("turning", "right"), ("left",)], at_least=2)
    assert lexicon.words == ("left", "turn")
    heard = lexicon.encode([("turns", "up"), ("left", "left"), ()])
    assert [heard[row].tolist() for row in range(3)] == [[1], [0, 0], []]


def test_nothing_is_frequent() -> None:
    with pytest.raises(DataError, match="No word occurs 3 times"):
        Lexicon.of([("turn",)], at_least=3)
