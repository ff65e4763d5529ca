"""Labels of objects: the words of their names, and the groups of their categories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

# Stop words: function words, and words that name no particular object.
_STOP_WORDS = frozenset({
    "a", "an", "and", "behind", "etc", "for", "in", "item", "misc", "miscellaneous", "object", "of", "on",
    "or", "other", "otherroom", "room", "stuff", "the", "thing", "to", "unknown", "unkown", "unlabeled",
    "with",
})  # fmt: skip

# Exceptions to the rules below: words that are already singular or have no singular, and plurals of words in
# -f, -fe and -ie.
_EXCEPTIONS = {
    "blinds": "blinds",
    "bookshelves": "bookshelf",
    "canvas": "canvas",
    "christmas": "christmas",
    "clothes": "clothes",
    "cookies": "cookie",
    "downstairs": "downstairs",
    "knives": "knife",
    "leaves": "leaf",
    "lens": "lens",
    "movies": "movie",
    "pants": "pants",
    "people": "person",
    "scarves": "scarf",
    "scissors": "scissors",
    "series": "series",
    "shelves": "shelf",
    "upstairs": "upstairs",
}

# The classes 1 to 40 of Matterport3D's `mpcat40`, in order. The classes 0 (`void`) and 41 (`unlabeled`) mean
# unknown and are not groups.
GROUPS = (
    "wall",
    "floor",
    "chair",
    "door",
    "table",
    "picture",
    "cabinet",
    "cushion",
    "window",
    "sofa",
    "bed",
    "curtain",
    "chest_of_drawers",
    "plant",
    "sink",
    "stairs",
    "ceiling",
    "toilet",
    "stool",
    "towel",
    "mirror",
    "tv_monitor",
    "shower",
    "column",
    "bathtub",
    "counter",
    "fireplace",
    "lighting",
    "beam",
    "railing",
    "shelving",
    "blinds",
    "gym_equipment",
    "seating",
    "board_panel",
    "furniture",
    "appliances",
    "clothes",
    "objects",
    "misc",
)


def singular(word: str) -> str:
    """The singular of a lower-case English noun, by simple rules and a table of exceptions."""
    if word in _EXCEPTIONS:
        return _EXCEPTIONS[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word.removesuffix("ies") + "y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word.removesuffix("es")
    return word.removesuffix("s")


def words_of(name: str) -> tuple[str, ...]:
    """The distinct words of an object's name, in order, without digits, single letters and stop words."""
    pieces = re.split(r"[\s/\\,_-]+", name.lower())
    # Other characters are typing errors: "c;lothes", "toaster?".
    words = (singular(re.sub(r"[^a-z]", "", piece)) for piece in pieces)
    return tuple(dict.fromkeys(word for word in words if len(word) > 1 and word not in _STOP_WORDS))


def frequent(names: Iterable[str], limit: int) -> tuple[str, ...]:
    """The `limit` most frequent words of the names, most frequent first, ties in alphabetical order."""
    counts = Counter(word for name in names for word in words_of(name))
    return tuple(sorted(counts, key=lambda word: (-counts[word], word))[:limit])
