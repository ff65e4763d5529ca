"""Words as alignment reads them: without endings, and gathered in clauses that tell of one move each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from babywalk.assets.tokens import tokenise

# What opens a new clause inside a sentence, as people cut instructions in Fine-Grained R2R: "then" and "but",
# and "and" where a move follows, not in "table and chairs" or "up the stairs and into the hall".
_OPENINGS = frozenset({"then", "but"})
_MOVES = frozenset(
    [
        "climb",
        "continue",
        "cross",
        "descend",
        "enter",
        "exit",
        "face",
        "follow",
        "go",
        "head",
        "keep",
        "leave",
        "look",
        "make",
        "move",
        "pass",
        "proceed",
        "remain",
        "stand",
        "stay",
        "step",
        "stop",
        "take",
        "then",
        "turn",
        "veer",
        "wait",
        "walk",
        "you",
    ]
)
_SHORTEST = 3  # words of a clause before a comma or an opening may end it
_STOPS = frozenset(".!?")
_PAUSES = frozenset(".!?,;:")
_ENDINGS = ("ing", "ed", "es", "s", "e")


def stem(word: str) -> str:
    """A word without its ending, so that "stairs" is "stair" and "walking" is "walk".

    People's sub-instructions come as dictionary forms, instructions as they were written: both meet here.
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            root = word[: -len(ending)]
            # "stopping" is "stop", but "hall" has its two letters for itself.
            doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "sl"
            return root[:-1] if doubled else root
    return word


def stems(words: Iterable[str]) -> tuple[str, ...]:
    """The words of a piece of text without endings and punctuation."""
    return tuple(stem(word) for word in words if _is_word(word))


def clauses(text: str) -> list[tuple[str, ...]]:
    """The words of a text, without punctuation, in clauses; at least one clause, which may have no word."""
    found: list[list[str]] = []
    for clause in _cut(tokenise(text)):
        if found and len(clause) < 2:  # a single word left over says too little to be placed
            found[-1] += clause
        else:
            found.append(clause)
    return [tuple(clause) for clause in found] or [()]


def _cut(tokens: Sequence[str]) -> Iterator[list[str]]:
    clause: list[str] = []
    for token, following in pairwise([*tokens, ""]):
        long_enough = len(clause) >= _SHORTEST
        if not _is_word(token):
            if clause and ((_STOPS & set(token)) or (long_enough and _PAUSES & set(token))):
                yield clause
                clause = []
            continue
        opens = token in _OPENINGS or (token == "and" and stem(following) in _MOVE_STEMS)
        if opens and long_enough:
            yield clause
            clause = []
        clause.append(token)
    if clause:
        yield clause


def _is_word(token: str) -> bool:
    return any(character.isalnum() for character in token)


_MOVE_STEMS = frozenset(map(stem, _MOVES))
