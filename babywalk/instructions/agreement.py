"""Agreement of our steps with annotated sub-instructions, of people or of the Dollhouse's narrator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from babywalk.assets.fine_grained import FineGrainedWalk
from babywalk.assets.tokens import tokenise


@dataclass(frozen=True, slots=True)
class Agreement:
    """Counts of boundaries between steps; two are equal if as many words precede them."""

    texts: int  # compared
    left_out: int  # texts whose annotation has another number of words
    ours: int  # boundaries of our steps
    theirs: int  # annotated boundaries
    both: int

    @property
    def precision(self) -> float:
        """The fraction of our boundaries that are annotated."""
        return self.both / max(1, self.ours)

    @property
    def recall(self) -> float:
        """The fraction of annotated boundaries that are ours."""
        return self.both / max(1, self.theirs)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.both / max(1, self.ours + self.theirs)


def agreement(annotated: Sequence[FineGrainedWalk], steps: Iterable[Sequence[str]]) -> Agreement:
    """Compare with our steps of every instruction of the same walks, in the same order."""
    texts = left_out = ours = theirs = both = 0
    own_steps = iter(steps)
    for walk in annotated:
        missing = len(walk.walk.instructions) - len(walk.steps)
        for pieces in [*walk.steps, *[()] * missing]:
            own = _bounds([tokenise(step) for step in next(own_steps)])
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
    """The number of words before the end of each piece, without punctuation."""
    return list(accumulate(sum(any(map(str.isalnum, word)) for word in piece) for piece in pieces))
