"""The words an agent knows, what it does not know, and a vector for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.glove import WordVectors
from babywalk.assets.tokens import tokenise
from babywalk.common.ragged import Ragged, starts
from babywalk.common.seeding import generator

PADDING, UNKNOWN, END = "<PAD>", "<UNK>", "<EOS>"
SPECIAL = (PADDING, UNKNOWN, END)


@dataclass(frozen=True)
class Vocabulary:
    """Words by number, the special ones first; the others from frequent to rare."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, texts: Iterable[str], *, at_least: int = 5) -> Vocabulary:
        """The words that occur `at_least` times; ties in alphabetical order."""
        counts = Counter(chain.from_iterable(map(tokenise, texts)))
        kept = sorted(
            (word for word, count in counts.items() if count >= at_least),
            key=lambda word: (-counts[word], word),
        )
        return cls((*SPECIAL, *kept))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def encode(self, texts: Iterable[str]) -> Encoded:
        """Each text as word numbers, and a count of the words that have none."""
        numbers, unknown = self.numbers, self.numbers[UNKNOWN]
        missed: Counter[str] = Counter()
        flat: list[int] = []
        lengths: list[int] = []
        for text in texts:
            tokens = tokenise(text)
            lengths.append(len(tokens))
            for token in tokens:
                number = numbers.get(token, unknown)
                if number == unknown:
                    missed[token] += 1
                flat.append(number)
        return Encoded(Ragged(np.array(flat, dtype=np.int32), starts(lengths)), missed)

    def vectors(self, known: WordVectors | None, *, width: int = 300, seed: int = 0) -> NDArray[np.float32]:
        """(words, width) a vector per word: padding zero, the known ones as given, the others drawn.

        A drawn row depends on its word and the seed alone, and has the mean and spread of the known rows.
        """
        if known is None:
            mean, spread, rows = 0.0, 0.4, dict[str, NDArray[np.float32]]()  # 0.4: the spread of GloVe
        else:
            width = known.vectors.shape[1]
            mean, spread = float(known.vectors.mean()), float(known.vectors.std())
            rows = dict(zip(known.words, known.vectors, strict=True))
        table = np.empty((len(self), width), dtype=np.float32)
        for number, word in enumerate(self.words):
            row = rows.get(word)
            table[number] = generator(seed, "word", word).normal(mean, spread, width) if row is None else row
        table[self.numbers[PADDING]] = 0.0
        return table


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Texts as word numbers, and the words that the vocabulary lacks with how often they occur."""

    tokens: Ragged
    missed: Counter[str]

    @property
    def unknown_share(self) -> float:
        """The share of words that are unknown."""
        return self.missed.total() / max(1, len(self.tokens.values))
