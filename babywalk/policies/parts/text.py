"""Reading: the instruction encoder u, an LSTM over words (appendix B.1 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Read instructions. Shapes: B instructions, L words (padded), D hidden units."""

    words: Tensor  # (B, L, D) a vector per word, in context
    padding: Tensor  # (B, L) bool, True where there is no word
    summary: Tensor  # (B, D) the encoder's last state: u(x)

    def __getitem__(self, which: Tensor) -> Text:
        return Text(self.words[which], self.padding[which], self.summary[which])


class TextEncoder(nn.Module):
    """u: word vectors and an LSTM over the reversed words, so that what is done first is read last.

    Shapes: B instructions, L words, V words of the vocabulary, W numbers per word, D hidden units.
    """

    def __init__(self, vectors: Tensor, hidden: int, *, dropout: float, frozen: bool) -> None:
        super().__init__()
        self.vectors = nn.Embedding(vectors.shape[0], vectors.shape[1], padding_idx=0)  # (V, W)
        self.vectors.weight.data.copy_(vectors)
        self.vectors.weight.requires_grad_(not frozen)
        self.drop = nn.Dropout(dropout)
        self.lstm = nn.LSTM(vectors.shape[1], hidden, batch_first=True)

    def forward(
        self,
        tokens: Tensor,  # (B, L) word numbers, 0 where there is none
        lengths: Tensor,  # (B,) words, at least 1
    ) -> Text:
        """Read; words come back in the order in which they stand in the text."""
        count = tokens.shape[1]
        place = torch.arange(count)
        padding = place >= lengths[:, None]
        backwards = (lengths[:, None] - 1 - place).clamp(min=0)  # truncated before it is reversed
        reversed_tokens = tokens.gather(1, backwards).masked_fill(padding, 0)
        packed = pack_padded_sequence(
            self.drop(self.vectors(reversed_tokens)), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        states, (last, _) = self.lstm(packed)
        words, _ = pad_packed_sequence(states, batch_first=True, total_length=count)
        words = words.gather(1, backwards[..., None].expand_as(words))
        return Text(self.drop(words), padding, last[0])
