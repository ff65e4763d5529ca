"""Ragged arrays: rows of different lengths in two flat arrays, so that a batch of rows is array indexing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """Row i is `values[start[i]:start[i + 1]]`. Shapes: R rows, V values in all."""

    values: NDArray[np.int32]  # (V,)
    start: NDArray[np.int64]  # (R + 1,), from 0 to V

    @classmethod
    def of(cls, rows: Iterable[Sequence[int]]) -> Ragged:
        """From rows of integers."""
        arrays = [np.asarray(row, dtype=np.int32) for row in rows]
        values = np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int32)
        return cls(values, starts([len(row) for row in arrays]))

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        return self.values[self.start[row] : self.start[row + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(R,) the length of each row."""
        return np.diff(self.start)

    @property
    def firsts(self) -> NDArray[np.int32]:
        """(R,) the first value of each row; no row may be empty."""
        return self.values[self.start[:-1]]

    @property
    def lasts(self) -> NDArray[np.int32]:
        """(R,) the last value of each row; no row may be empty."""
        return self.values[self.start[1:] - 1]

    def take(self, rows: Integers) -> Ragged:
        """The given rows, in the given order."""
        lengths = self.lengths[rows]
        start = starts(lengths)
        return Ragged(self.values[ranges(self.start[:-1][rows], lengths, start)], start)

    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(D,) the first row of each group of equal rows, and (R,) the group of each row."""
        known: dict[bytes, int] = {}
        bounds = zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True)
        which = [known.setdefault(self.values[i:j].tobytes(), len(known)) for i, j in bounds]
        found = np.array(which, dtype=np.int64)
        return np.unique(found, return_index=True)[1], found

    def padded(self, fill: int = -1) -> NDArray[np.int32]:
        """(R, longest) all rows, padded at the end with `fill`."""
        lengths = self.lengths
        columns = np.arange(lengths.max(initial=0))
        table = np.full((len(self), len(columns)), fill, dtype=np.int32)
        table[columns < lengths[:, None]] = self.values
        return table


def concat_within_rows(pieces: Sequence[Ragged]) -> Ragged:
    """Row i of the result joins row i of every piece, in order."""
    lengths = np.stack([piece.lengths for piece in pieces])
    start = starts(lengths.sum(axis=0))
    values = np.empty(int(start[-1]), dtype=np.int32)
    offset = start[:-1].copy()
    for piece, length in zip(pieces, lengths, strict=True):
        values[ranges(offset, length)] = piece.values
        offset += length
    return Ragged(values, start)


def concat_rows(pieces: Sequence[Ragged]) -> Ragged:
    """The rows of the first piece, then those of the second, and so on."""
    lengths = np.concatenate([piece.lengths for piece in pieces])
    return Ragged(np.concatenate([piece.values for piece in pieces]), starts(lengths))


def starts(lengths: Sequence[int] | Integers) -> NDArray[np.int64]:
    """(R + 1,) the start of each row in a flat array, followed by the size of the array."""
    start = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    return start


def ranges(first: Integers, lengths: Integers, start: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """The ranges first[i], first[i] + 1, ... of the given lengths, concatenated."""
    begin = starts(lengths) if start is None else start
    run: NDArray[np.int64] = np.repeat(first - begin[:-1], lengths)
    run += np.arange(begin[-1])
    return run
