"""Sentences, their landmarks and their verbs: rules 1 to 4 of the paper's appendix A.1.

1. Split at periods, and find noun and verb phrases by their tags.
2. Curate noun phrases: no stop words, no punctuation, each word as its lemma.
3. What remains and is not on a blacklist is a landmark.
4. Verbs that do not move the walker are discarded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from babywalk.instructions.tagging import Word

RULES = 2  # the version of these rules, stored with sentences; 2: "stairs.Turn" ends a sentence
# Rule 3: nouns without a visual counterpart, and words often tagged as nouns by mistake.
LANDMARK_BLACKLIST = (
    "end", "18 inch", "head", "inside", "forward", "position", "ground", "home", "face", "walk", "feet",
    "way", "walking", "bit", "veer", "'ve", "next", "stop", "towards", "right", "direction", "thing",
    "facing", "side", "turn", "middle", "one", "out", "piece", "left", "destination", "straight", "enter",
    "wait", "don't", "stand", "back", "round",
)  # fmt: skip
# Rule 4: verbs that turn the walker without moving it.
VERB_BLACKLIST = ("make", "turn", "face", "facing", "veer")
# Rule 6: the first words of sentences that only say where to stop, and of those that lead to the next.
STOP_OPENINGS = ("wait", "stop", "there", "remain", "you will see")
NEXT_OPENINGS = ("with", "facing")

_NOUNS = frozenset({"NOUN", "PROPN"})
_PHRASE = _NOUNS | {"ADJ", "NUM"}
_ABBREVIATIONS = frozenset({"e.g", "i.e", "etc", "approx", "vs", "dr", "mr", "mrs", "st"})
_UNITS = frozenset({"in", "ft", "m", "no"})  # abbreviations after a number: "3 ft. away", but not "go in."
# A sentence ends at a run of periods, "!" or "?" before white space or the end, and at a line break. It also
# ends at such a mark before a letter ("stairs.Turn left"), but not at several periods ("left...then").
_END = re.compile(r"[.!?]+[\"')\]]*(?=\s|$)|\n+|(?<![.!?])(?:\.|[!?]+)[)\]]*(?=[^\W\d_])")
_INITIALS = re.compile(r"(?<![^\W_])[^\W\d_](?:\.[^\W\d_](?![^\W_]))+\.?")  # "T.V.", "e.g"
_NUMBER_BEFORE = re.compile(r"\d\s*$")


@dataclass(frozen=True, slots=True)
class WordLists:
    """The word lists of rules 3, 4 and 6."""

    landmark_blacklist: tuple[str, ...] = LANDMARK_BLACKLIST
    verb_blacklist: tuple[str, ...] = VERB_BLACKLIST
    stop_openings: tuple[str, ...] = STOP_OPENINGS
    next_openings: tuple[str, ...] = NEXT_OPENINGS


@dataclass(frozen=True, slots=True)
class Sentence:
    """Part of an instruction up to a period. Sentences of a text are in order and not empty."""

    begin: int  # characters of the text
    end: int
    landmarks: tuple[str, ...] = ()  # lemmas of noun phrases, as in "dining room table"
    verbs: tuple[str, ...] = ()  # lemmas
    stops: bool = False  # only says where to stop: belongs to the sentence before
    leads: bool = False  # begins with "with" or "facing": belongs to the sentence after


def sentences(
    text: str, words: Sequence[Word], lists: WordLists, stop_words: frozenset[str]
) -> list[Sentence]:
    """The sentences of a tagged text; a text of white space has none."""
    found = []
    for begin, end in spans(text):
        inside = [word for word in words if begin <= word.begin < end]
        opening = " ".join(word.text.lower() for word in inside[:4]) + " "
        found.append(
            Sentence(
                begin,
                end,
                landmarks=tuple(landmarks(inside, lists.landmark_blacklist, stop_words)),
                verbs=tuple(verbs(inside, lists.verb_blacklist)),
                stops=opening.startswith(tuple(f"{start} " for start in lists.stop_openings)),
                leads=opening.startswith(tuple(f"{start} " for start in lists.next_openings)),
            )
        )
    return found


def spans(text: str) -> list[tuple[int, int]]:
    """Rule 1: where sentences begin and end. Each contains a letter or digit, unless the text has none."""
    cuts = [0]
    for end in [*_ends(text), len(text)]:
        # Punctuation alone is not a sentence: it belongs to the one before, or at the start to the one after.
        if any(character.isalnum() for character in text[cuts[-1] : end]):
            cuts.append(end)
        elif len(cuts) > 1:
            cuts[-1] = end
    if len(cuts) == 1 and text.strip():
        cuts.append(len(text))
    pieces = [(begin, text[begin:end]) for begin, end in pairwise(cuts)]
    return [
        (begin + len(piece) - len(piece.lstrip()), begin + len(piece.rstrip())) for begin, piece in pieces
    ]


def missing_spaces(text: str) -> list[int]:
    """The ends of sentences that the next one follows without a space, as in "stairs.Turn left"."""
    return [end for end in _ends(text) if text[end:] and not any(map(str.isspace, text[end - 1 : end + 1]))]


def _ends(text: str) -> list[int]:
    """The positions after marks that end a sentence."""
    return [match.end() for match in _END.finditer(text) if not _is_abbreviation(text, match)]


def _is_abbreviation(text: str, match: re.Match[str]) -> bool:
    """Whether a period belongs to an abbreviation, so that the sentence continues."""
    words = text[: match.start()].split()
    if match.group() != "." or not words:
        return False
    if text[match.end() : match.end() + 1].isalpha() and any(
        initials.start() <= match.start() < initials.end() for initials in _INITIALS.finditer(text)
    ):
        return True
    last = words[-1].lower().lstrip("(\"'")
    number_before = _NUMBER_BEFORE.search(text[: match.start() - len(last)]) is not None
    return last in _ABBREVIATIONS or (last in _UNITS and number_before)


def noun_phrases(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Rule 1: runs of adjectives, numbers and nouns, each up to its last noun."""
    for in_phrase, run in groupby(words, key=lambda word: word.pos in _PHRASE):
        phrase = list(run)
        while phrase and phrase[-1].pos not in _NOUNS:
            phrase.pop()
        if in_phrase and phrase:
            yield phrase


def landmarks(words: Sequence[Word], blacklist: Sequence[str], stop_words: frozenset[str]) -> Iterator[str]:
    """Rules 2 and 3: the nouns of each phrase as lemmas, without stop words and blacklisted words."""
    banned = stop_words.union(blacklist)
    for phrase in noun_phrases(words):
        kept = [
            word.lemma
            for word in phrase
            if word.pos in _NOUNS
            and any(character.isalpha() for character in word.text)
            and banned.isdisjoint((word.text.lower(), word.lemma))
        ]
        if kept and " ".join(word.text.lower() for word in phrase) not in banned:
            yield " ".join(kept)


def verbs(words: Sequence[Word], blacklist: Sequence[str]) -> Iterator[str]:
    """Rule 4: the verbs as lemmas, without blacklisted ones."""
    banned = frozenset(blacklist)
    for word in words:
        if word.pos == "VERB" and word.text.isalpha() and banned.isdisjoint((word.text.lower(), word.lemma)):
            yield word.lemma
