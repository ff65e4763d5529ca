"""Walkers who read, several of them the same text: words are compared and mixed without a copy for each."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from babywalk.policies.parts.text import Text


@dataclass(frozen=True, slots=True, eq=False)
class Readers:
    """Every text has as many seats as it had walkers at first; who has stopped leaves a seat empty.

    Shapes: B walkers, R texts, C seats for each, L words.
    """

    text: Text  # R of them
    copies: int  # C
    seats: Tensor  # (B,) below R C

    @classmethod
    def of(cls, text: Text, copies: int = 1) -> Readers:
        """All seats taken."""
        return cls(text, copies, torch.arange(len(text) * copies))

    def __len__(self) -> int:
        return len(self.seats)

    def __getitem__(self, which: Tensor) -> Readers:
        seats = self.seats[which]
        rows = seats // self.copies
        read = rows.unique()  # type: ignore[no-untyped-call]  # torch does not type it
        # Texts that nobody reads any more are put away when they are the most: each time costs a copy.
        if 2 * len(read) > len(self.text):
            return Readers(self.text, self.copies, seats)
        seats = torch.searchsorted(read, rows) * self.copies + seats % self.copies
        return Readers(self.text[read], self.copies, seats)

    @property
    def padding(self) -> Tensor:
        """(B, L) bool, True where there is no word."""
        return self.text.padding[self.seats // self.copies]

    def compared(self, query: Tensor, words: Tensor) -> Tensor:
        """(B, L) the products of each walker's query (B, X) with the vectors (R, L, X) of its words."""
        return self._stood_up(torch.bmm(self._seated(query), words.transpose(1, 2)))

    def mixed(self, weights: Tensor, words: Tensor) -> Tensor:
        """(B, X) the sum of the vectors (R, L, X) of each walker's words by its weights (B, L)."""
        return self._stood_up(torch.bmm(self._seated(weights), words))

    def _seated(self, values: Tensor) -> Tensor:
        """(R, C, X), zero in empty seats."""
        seats = len(self.text) * self.copies
        if len(values) < seats:
            values = values.new_zeros(seats, values.shape[1]).index_copy(0, self.seats, values)
        return values.view(len(self.text), self.copies, -1)

    def _stood_up(self, values: Tensor) -> Tensor:
        flat = values.flatten(0, 1)
        return flat if len(self) == len(flat) else flat.index_select(0, self.seats)
