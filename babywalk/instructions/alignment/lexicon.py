"""The words that an aligner knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from babywalk.common.errors import DataError
from babywalk.common.ragged import Ragged
from babywalk.instructions.alignment.words import stems


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words without endings, by number; others are not heard."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, pieces: Iterable[Sequence[str]], *, at_least: int) -> Lexicon:
        """The words that occur so often in pieces of text, in alphabetical order."""
        counts = Counter(word for piece in pieces for word in stems(piece))
        kept = tuple(sorted(word for word, count in counts.items() if count >= at_least))
        if not kept:
            raise DataError(f"No word occurs {at_least} times: there is nothing to learn. Ask for fewer.")
        return cls(kept)

    def encode(self, pieces: Iterable[Sequence[str]]) -> Ragged:
        """The known words of each piece."""
        numbers = {word: number for number, word in enumerate(self.words)}
        return Ragged.of([[numbers[word] for word in stems(piece) if word in numbers] for piece in pieces])
