"""Words of object names: singular, without stop words, most frequent first."""

from __future__ import annotations

import pytest

from babywalk.buildings.objects.labels import frequent, singular, words_of


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("chairs", "chair"),
        ("shelves", "shelf"),
        ("bookshelves", "bookshelf"),
        ("stoves", "stove"),
        ("boxes", "box"),
        ("benches", "bench"),
        ("dishes", "dish"),
        ("glasses", "glass"),
        ("vases", "vase"),
        ("shoes", "shoe"),
        ("stairs", "stair"),
        ("toiletries", "toiletry"),
        ("cookies", "cookie"),
        ("knives", "knife"),
    ],
)
def test_plurals_become_singular(plural: str, one: str) -> None:
    assert singular(plural) == one
    assert singular(one) == one


@pytest.mark.parametrize(
    "word", ["glass", "dress", "cactus", "tennis", "clothes", "blinds", "canvas", "gas", "bus"]
)
def test_singular_words_are_unchanged(word: str) -> None:
    assert singular(word) == word


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Dining Chairs", ("dining", "chair")),
        ("chest of drawers", ("chest", "drawer")),
        ("stand/table", ("stand", "table")),
        ("wall \\other room", ("wall",)),
        ("washer-dryer 2", ("washer", "dryer")),
        ("c;lothes hangers", ("clothes", "hanger")),
        ("books book", ("book",)),
        ("unknown", ()),
        ("", ()),
    ],
)
def test_words_of_a_name_exclude_stop_words(name: str, words: tuple[str, ...]) -> None:
    assert words_of(name) == words


def test_frequent_words_are_sorted_by_count_then_alphabet() -> None:
    names = ["sofa", "lamps", "dining table", "table lamp", "lamp"]
    assert frequent(names, 4) == ("lamp", "table", "dining", "sofa")
    assert frequent(names, 0) == ()
