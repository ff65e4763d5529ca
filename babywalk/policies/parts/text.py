"""Reading: the instruction encoder u, an LSTM over words (appendix B.1 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from babywalk.policies.parts.dropout import Dropout
from babywalk.policies.parts.recurrent import run


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Read instructions. Shapes: B instructions, L words (padded), D hidden units."""

    words: Tensor  # (B, L, D) a vector per word, in context
    padding: Tensor  # (B, L) bool, True where there is no word
    summary: Tensor  # (B, D) the encoder's last state: u(x)
    tokens: Tensor  # (B, L) word numbers, 0 where there is none

    def __len__(self) -> int:
        return len(self.summary)

    def __getitem__(self, which: Tensor) -> Text:
        # Rows by index_select: its gradient adds rows, where that of plain indexing adds number by number.
        parts = (self.words, self.padding, self.summary, self.tokens)
        return Text(*(part.index_select(0, which) for part in parts))

    def after(self, first: int) -> Text:
        """Without the first so many."""
        return Text(self.words[first:], self.padding[first:], self.summary[first:], self.tokens[first:])

    def trimmed(self) -> Text:
        """Without places that no instruction has a word in."""
        longest = int((~self.padding).sum(dim=1).max())
        return Text(
            self.words[:, :longest], self.padding[:, :longest], self.summary, self.tokens[:, :longest]
        )


class TextEncoder(nn.Module):
    """u: word vectors and an LSTM over the reversed words, so that what is done first is read last.

    Shapes: B instructions, L words, V words of the vocabulary, W numbers per word, D hidden units.
    """

    def __init__(self, vectors: Tensor, hidden: int, *, dropout: float, frozen: bool) -> None:
        super().__init__()
        self.vectors = nn.Embedding(vectors.shape[0], vectors.shape[1], padding_idx=0)  # (V, W)
        self.vectors.weight.data.copy_(vectors)
        self.vectors.weight.requires_grad_(not frozen)
        self.drop = Dropout(dropout)
        self.lstm = nn.LSTM(vectors.shape[1], hidden, batch_first=True)

    def forward(
        self,
        tokens: Tensor,  # (B, L) word numbers, 0 where there is none
        lengths: Tensor,  # (B,) words, at least 1
    ) -> Text:
        """Read; words come back in the order in which they stand in the text."""
        padding = torch.arange(tokens.shape[1]) >= lengths[:, None]
        places = (~padding).flatten().nonzero()[:, 0]
        told = self.vectors(tokens.flatten()[places])
        states, last = run(self.lstm, self.drop(told), lengths, reverse=True)
        words = states.new_zeros(tokens.numel(), states.shape[1]).index_copy(0, places, self.drop(states))
        return Text(words.view(*tokens.shape, -1), padding, last, tokens)
