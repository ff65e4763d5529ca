"""The words of object names: lower case, singular, and only those that say something."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

# Words that name no thing: what joins others, and the annotators' ways to say "something, somewhere".
_EMPTY = frozenset({
    "a", "an", "and", "behind", "etc", "for", "in", "item", "misc", "miscellaneous", "object", "of", "on",
    "or", "other", "otherroom", "room", "stuff", "the", "thing", "to", "unknown", "unkown", "unlabeled",
    "with",
})  # fmt: skip

# What the endings below would get wrong: words that are singular already or have no singular, and
# plurals of words in -f, -fe and -ie, which look like plurals of words in -ve and -y.
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


def singular(word: str) -> str:
    """The singular of a lower-case English noun, as far as endings and a short table tell."""
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
    """The distinct words of an object's name, in order, without digits, single letters and empty words."""
    pieces = re.split(r"[\s/\\,_-]+", name.lower())
    # Other signs are slips of the keyboard: "c;lothes", "toaster?".
    words = (singular(re.sub(r"[^a-z]", "", piece)) for piece in pieces)
    return tuple(dict.fromkeys(word for word in words if len(word) > 1 and word not in _EMPTY))


def frequent(names: Iterable[str], limit: int) -> tuple[str, ...]:
    """The `limit` words that most of the names hold, the most frequent first, ties in alphabetical order."""
    counts = Counter(word for name in names for word in words_of(name))
    return tuple(sorted(counts, key=lambda word: (-counts[word], word))[:limit])


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
