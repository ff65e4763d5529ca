"""GloVe: a vector for each word of a vocabulary, `train_vocab.txt` beside `train_glove.npy`.

Line i of the text is the word of row i of the array, nothing is shifted: the first lines are the special
words `<PAD>`, `<UNK>` and `<EOS>`, and they have rows like any other (small numbers, not zeros). A word may
hold a space: the R2R vocabulary has `. .` on line 832.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.records import lines
from babywalk.common.errors import DataError, shortlist
from babywalk.common.files import atomic_write, write_text


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """Words, each once, and their vectors. Shapes: V words, D numbers."""

    words: tuple[str, ...]
    vectors: NDArray[np.float32]  # (V, D), all finite


def read_glove(vocab: Path, array: Path) -> WordVectors:
    """Read and check a vocabulary and the array that goes with it."""
    words = lines(vocab)
    empty = [f"line {number}" for number, word in enumerate(words, start=1) if not word.strip()]
    if empty:
        raise DataError(f"{vocab}: expected a word on every line; there is none on {shortlist(empty)}.")
    twice = [repr(word) for word, count in Counter(words).items() if count > 1]
    if twice:
        raise DataError(f"{vocab}: words must be unique; found more than once: {shortlist(twice)}.")
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
    if not file.is_file():
        raise DataError(f"{file}: there is no such file.")
    try:
        # Mapped, the size that the header promises is checked against the file before memory is taken for it;
        # arrays of Python objects are refused.
        stored = np.lib.format.open_memmap(file, mode="r")
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"{file}: is not a NumPy array file of numbers ({error}).") from None
    if stored.ndim != 2 or stored.dtype.kind != "f" or stored.dtype.itemsize != 4:
        raise DataError(
            f"{file}: holds {stored.dtype.name} of shape {stored.shape}; "
            "expected float32 with a row for each word."
        )
    vectors = np.array(stored, np.float32, order="C")
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise DataError(f"{file}: expected finite numbers; row {shortlist(bad, 1)} holds NaN or infinity.")
    return vectors
