"""How far our steps agree with sub-instructions that people, or the Dollhouse's narrator, marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from babywalk.assets.fine_grained import FineGrainedWalk
from babywalk.assets.tokens import tokenise


@dataclass(frozen=True, slots=True)
class Agreement:
    """Boundaries between steps, told by the words before them; the ends of a text are none."""

    texts: int  # compared
    left_out: int  # whose marked words are not those of the text
    ours: int
    theirs: int
    both: int

    @property
    def precision(self) -> float:
        """The share of our boundaries that are also theirs."""
        return self.both / max(1, self.ours)

    @property
    def recall(self) -> float:
        """The share of their boundaries that are also ours."""
        return self.both / max(1, self.theirs)

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        return 2 * self.both / max(1, self.ours + self.theirs)


def agreement(marked: Sequence[FineGrainedWalk], steps: Iterable[Sequence[str]]) -> Agreement:
    """Compare with the steps of every instruction of the same walks, in their order."""
    texts = left_out = ours = theirs = both = 0
    cut = iter(steps)
    for walk in marked:
        told = [*walk.steps, *[()] * (len(walk.walk.instructions) - len(walk.steps))]
        for pieces in told:
            own = _bounds([tokenise(step) for step in next(cut)])
            if not pieces:
                continue
            their = _bounds([piece.words for piece in pieces])
            if own[-1:] != their[-1:]:
                left_out += 1
                continue
            texts += 1
            ours += len(own) - 1
            theirs += len(their) - 1
            both += len(set(own[:-1]) & set(their[:-1]))
    return Agreement(texts, left_out, ours, theirs, both)


def _bounds(pieces: Iterable[Iterable[str]]) -> list[int]:
    """How many words stand before the end of each piece, punctuation not counted."""
    return list(accumulate(sum(any(map(str.isalnum, word)) for word in piece) for piece in pieces))
