"""The vocabulary of an agent: word ids, unknown words and word vectors."""

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
    """Words by id: the special words first, then the others by falling frequency."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, texts: Iterable[str], *, min_count: int = 5) -> Vocabulary:
        """The words that occur at least `min_count` times; ties in alphabetical order."""
        counts = Counter(chain.from_iterable(map(tokenise, texts)))
        kept = sorted(
            (word for word, count in counts.items() if count >= min_count),
            key=lambda word: (-counts[word], word),
        )
        return cls((*SPECIAL, *kept))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def word_ids(self) -> Mapping[str, int]:
        """The id of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def encode(self, texts: Iterable[str]) -> EncodedTexts:
        """Texts as word ids, and the counts of unknown words."""
        word_ids, unknown = self.word_ids, self.word_ids[UNKNOWN]
        unknown_counts: Counter[str] = Counter()
        flat: list[int] = []
        lengths: list[int] = []
        for text in texts:
            tokens = tokenise(text)
            lengths.append(len(tokens))
            for token in tokens:
                number = word_ids.get(token, unknown)
                if number == unknown:
                    unknown_counts[token] += 1
                flat.append(number)
        return EncodedTexts(Ragged(np.array(flat, dtype=np.int32), starts(lengths)), unknown_counts)

    def vectors(self, known: WordVectors | None, *, width: int = 300, seed: int = 0) -> NDArray[np.float32]:
        """(words, width) a vector per word: zero for padding, `known` vectors as given, the others random.

        A random row depends only on its word and the seed, and has the mean and standard deviation of the
        known rows.
        """
        if known is None:
            mean, spread, rows = 0.0, 0.4, dict[str, NDArray[np.float32]]()  # the standard deviation of GloVe
        else:
            width = known.vectors.shape[1]
            mean, spread = float(known.vectors.mean()), float(known.vectors.std())
            rows = dict(zip(known.words, known.vectors, strict=True))
        table = np.empty((len(self), width), dtype=np.float32)
        for number, word in enumerate(self.words):
            row = rows.get(word)
            table[number] = generator(seed, "word", word).normal(mean, spread, width) if row is None else row
        table[self.word_ids[PADDING]] = 0.0
        return table


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTexts:
    """Texts as word ids, and the counts of words that are not in the vocabulary."""

    tokens: Ragged
    unknown_counts: Counter[str]
