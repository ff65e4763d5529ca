"""GloVe: a vector for each word of a vocabulary, `train_vocab.txt` beside `train_glove.npy`.

Line i of the text is the word of row i of the array. The first lines are the special words `<PAD>`, `<UNK>`
and `<EOS>`, whose rows hold small numbers, not zeros. A word may contain a space: the R2R vocabulary has
`. .` on line 832.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.records import lines
from babywalk.common.array_files import map_array
from babywalk.common.errors import DataError, shortlist
from babywalk.common.files import atomic_write, write_text


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """Unique words and their vectors. Shapes: V words, D dimensions."""

    words: tuple[str, ...]
    vectors: NDArray[np.float32]  # (V, D), all finite


def read_glove(vocab: Path, array: Path) -> WordVectors:
    """Read and check a vocabulary and its array."""
    words = lines(vocab)
    empty = [f"line {number}" for number, word in enumerate(words, start=1) if not word.strip()]
    if empty:
        raise DataError(f"{vocab}: expected a word on every line; empty: {shortlist(empty)}.")
    duplicates = [repr(word) for word, count in Counter(words).items() if count > 1]
    if duplicates:
        raise DataError(f"{vocab}: words must be unique; found more than once: {shortlist(duplicates)}.")
    vectors = _read_array(array)
    if vectors.shape[0] != len(words):
        raise DataError(
            f"{array}: has {vectors.shape[0]} rows; expected {len(words)}, one per line of {vocab.name}."
        )
    return WordVectors(tuple(words), vectors)


def write_glove(vocab: Path, array: Path, vectors: WordVectors) -> None:
    """Write a vocabulary and its array in the raw format."""
    write_text(vocab, "".join(f"{word}\n" for word in vectors.words))
    with atomic_write(array) as temporary, temporary.open("wb") as file:
        np.lib.format.write_array(file, np.ascontiguousarray(vectors.vectors, np.float32), allow_pickle=False)


def _read_array(file: Path) -> NDArray[np.float32]:
    stored = map_array(file, "f", (None, None))
    if stored.dtype.itemsize != 4:
        raise DataError(
            f"{file}: contains {stored.dtype.name} of shape {stored.shape}; "
            "expected float32 with one row per word."
        )
    vectors = np.array(stored, np.float32, order="C")
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise DataError(f"{file}: row {shortlist(bad, 1)} contains NaN or infinity.")
    return vectors
