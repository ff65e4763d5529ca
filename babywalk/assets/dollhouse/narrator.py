"""The narrator: an instruction for a path, and which of its words describe which part of the path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from babywalk.assets.dollhouse import phrases
from babywalk.assets.dollhouse.clauses import (
    Claim,
    Narrator,
    NarratorStyle,
    leg_clause,
    obvious_from_next,
    obvious_last_leg,
    stop_clause,
)
from babywalk.assets.dollhouse.landmarks import Landmarks
from babywalk.assets.dollhouse.routes import Leg, Route, legs_of, with_approach
from babywalk.assets.fine_grained import SubInstruction
from babywalk.assets.tokens import tokenise

STYLES = (
    NarratorStyle(detail=0.10, adjectives=0.2, breaks=0.40, merges=1.0, asides=0.00),
    NarratorStyle(detail=0.15, adjectives=0.3, breaks=0.50, merges=0.9, asides=0.03),
    NarratorStyle(detail=0.40, adjectives=0.5, breaks=0.45, merges=0.8, asides=0.04),
    NarratorStyle(detail=0.20, adjectives=0.5, breaks=0.35, merges=0.9, asides=0.08),
    NarratorStyle(detail=0.10, adjectives=0.2, breaks=0.80, merges=1.0, asides=0.00),
)

_MAX_SENTENCES = 4
_MAX_CLAUSES = 3  # per sentence


@dataclass(frozen=True, slots=True)
class Narration:
    """An instruction, which of its words describe which stretch of the path, and what it claims.

    The words of the steps in order are the words of the text. Neighbouring steps share a viewpoint, the
    first begins at the start and the last ends at the goal.
    """

    text: str
    steps: tuple[SubInstruction, ...]
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class _Clause:
    """A part of a sentence, about the stretch of path between two nodes."""

    text: str
    first: int
    last: int
    opens: bool = False  # it can only begin a sentence


def narrate(landmarks: Landmarks, path: Route, style: NarratorStyle, rng: np.random.Generator) -> Narration:
    """An instruction in the given style for a path."""
    narrator = Narrator(landmarks, path, style, rng)
    legs = _without_obvious(narrator, legs_of(landmarks.house, path))
    last = legs[-1]
    skipped = len(legs) > 1 and obvious_last_leg(narrator, last) and narrator.chance(style.merges)
    clauses = []
    for number in range(len(legs) - skipped):
        text, opens = leg_clause(narrator, legs, number)
        clauses.append(_Clause(text, legs[number].first, legs[number].last, opens))
    goal = len(path.nodes) - 1
    stop = stop_clause(narrator, last, skipped=skipped)
    clauses.append(_Clause(stop, last.first if skipped else goal, goal))
    pieces = _sentences(narrator, clauses)
    steps = tuple(
        SubInstruction(tuple(tokenise(piece)), clause.first, clause.last)
        for piece, clause in zip(pieces, clauses, strict=True)
    )
    return Narration(" ".join(pieces), steps, tuple(narrator.claims))


def _without_obvious(narrator: Narrator, legs: Sequence[Leg]) -> list[Leg]:
    """The legs, with some obvious ways to a door merged into the leg through that door."""
    merged: list[Leg] = []
    for leg in legs:
        obvious = leg.kind == "door" and bool(merged) and obvious_from_next(narrator, merged[-1], leg)
        if obvious and narrator.chance(narrator.style.merges):
            merged[-1] = with_approach(merged[-1], leg)
        else:
            merged.append(leg)
    return merged


def _sentences(narrator: Narrator, clauses: Sequence[_Clause]) -> list[str]:
    """The clauses as sentences: one piece of text per clause, with the punctuation that follows it."""
    pieces = [_capital(clauses[0].text)]
    sentences, in_sentence = 1, 1
    for number, clause in enumerate(clauses[1:], start=1):
        ends = clause.opens or in_sentence >= _MAX_CLAUSES or narrator.chance(narrator.style.breaks)
        if ends and sentences < _MAX_SENTENCES:
            pieces[-1] += "."
            pieces.append(_capital(clause.text))
            sentences, in_sentence = sentences + 1, 1
            continue
        has_and = " and " in clauses[number - 1].text or clause.opens
        table = phrases.AFTER_AND if has_and else phrases.LINKS
        if number == len(clauses) - 1 and not has_and:
            table = phrases.LAST_LINKS
        mark, _, word = narrator.pick(table).partition(" ")
        pieces[-1] += mark
        pieces.append(f"{word} {clause.text}".strip())
        in_sentence += 1
    pieces[-1] += "."
    return pieces


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
