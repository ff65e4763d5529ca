"""Reading: the instruction encoder u, an LSTM over words (appendix B.1 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from babywalk.modules.kernels.dropout import Dropout
from babywalk.modules.kernels.packed_lstm import run, starts


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Read instructions. Shapes: B instructions, L words (padded), D hidden units."""

    words: Tensor  # (B, L, D) a vector per word, in context
    tokens: Tensor  # (B, L) word numbers, 0 where there is none

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, which: Tensor) -> Text:
        # Rows by index_select: its gradient adds rows, where that of plain indexing adds number by number.
        return Text(self.words.index_select(0, which), self.tokens.index_select(0, which))


@dataclass(frozen=True, slots=True, eq=False)
class EncodedText:
    """Instructions whose words lie end to end. Shapes: B instructions, S words of all, D hidden units."""

    words: Tensor  # (S, D)
    lengths: Tensor  # (B,)
    summary: Tensor  # (B, D) the encoder's last state: u(x)
    tokens: Tensor  # (S,) word numbers

    def __getitem__(self, which: Tensor) -> Text:
        """Some of them, padded to the longest."""
        lengths = self.lengths[which]
        places = torch.arange(int(lengths.max()))
        padding = places >= lengths[:, None]
        inside = (~padding).flatten().nonzero()[:, 0]
        chosen = (starts(self.lengths)[which][:, None] + places).flatten()[inside]
        words = self.words.new_zeros(padding.numel(), self.words.shape[1])
        words = words.index_copy(0, inside, self.words.index_select(0, chosen))
        tokens = self.tokens.new_zeros(padding.numel()).index_copy(0, inside, self.tokens[chosen])
        return Text(words.view(*padding.shape, -1), tokens.view(padding.shape))


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
    ) -> EncodedText:
        """Read; words come back in the order in which they stand in the text."""
        told = tokens[torch.arange(tokens.shape[1]) < lengths[:, None]]
        states, last = run(self.lstm, self.drop(self.vectors(told)), lengths, reverse=True)
        return EncodedText(self.drop(states), lengths, last, told)
