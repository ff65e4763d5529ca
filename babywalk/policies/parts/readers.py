"""Walkers who read, several of them the same text: words are compared and mixed without a copy for each.

The words are a matrix per text that is used at every move, and they too learn in one go.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from babywalk.policies.parts.deferred import Ledger
from babywalk.policies.parts.text import Text


@dataclass(frozen=True, slots=True, eq=False)
class Readers:
    """Every text has as many seats as it had walkers at first; who has stopped leaves a seat empty.

    Shapes: B walkers, R texts, C seats for each, L words, D hidden units.
    """

    text: Text  # R of them
    copies: int  # C
    seats: Tensor  # (B,) below R C
    ledgers: tuple[Ledger, Ledger] | None  # of the words as rows and as columns; None without gradients

    @classmethod
    def of(cls, text: Text, copies: int = 1) -> Readers:
        """All seats taken."""
        return cls(text, copies, torch.arange(len(text) * copies), _ledgers(text.words))

    def __len__(self) -> int:
        return len(self.seats)

    def __getitem__(self, which: Tensor) -> Readers:
        seats = self.seats[which]
        rows = seats // self.copies
        read = rows.unique()  # type: ignore[no-untyped-call]  # torch does not type it
        # Texts that nobody reads any more are put away when they are the most: each time costs a copy.
        if 2 * len(read) > len(self.text):
            return Readers(self.text, self.copies, seats, self.ledgers)
        seats = torch.searchsorted(read, rows) * self.copies + seats % self.copies
        text = self.text[read]
        return Readers(text, self.copies, seats, _ledgers(text.words))

    @property
    def padding(self) -> Tensor:
        """(B, L) bool, True where there is no word."""
        return self.text.padding[self.seats // self.copies]

    def compared(self, query: Tensor) -> Tensor:
        """(B, L) the products of each walker's query (B, D) with its words."""
        query = self._seated(query)
        return self._risen(self.ledgers[0].use(query) if self.ledgers else query @ self.text.words.mT)

    def mixed(self, weights: Tensor) -> Tensor:
        """(B, D) the sum of each walker's words by its weights (B, L)."""
        weights = self._seated(weights)
        return self._risen(self.ledgers[1].use(weights) if self.ledgers else weights @ self.text.words)

    def gathered(self, weights: Tensor, vectors: Tensor) -> Tensor:
        """(B, X) the sum of other vectors (R, L, X) of each walker's words, ones that are not learned."""
        return self._risen(self._seated(weights) @ vectors)

    def _seated(self, values: Tensor) -> Tensor:
        """(R, C, X), zero in empty seats."""
        seats = len(self.text) * self.copies
        if len(values) < seats:
            values = values.new_zeros(seats, values.shape[1]).index_copy(0, self.seats, values)
        return values.view(len(self.text), self.copies, -1)

    def _risen(self, values: Tensor) -> Tensor:
        flat = values.flatten(0, 1)
        return flat if len(self) == len(flat) else flat.index_select(0, self.seats)


def _ledgers(words: Tensor) -> tuple[Ledger, Ledger] | None:
    learned = words.requires_grad and torch.is_grad_enabled()
    return (Ledger(words), Ledger(words.mT)) if learned else None
