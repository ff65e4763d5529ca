"""The instruction encoder u: an LSTM over words (appendix B.1 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from babywalk.modules.layers import PackedLSTM, positions_below


@dataclass(frozen=True, slots=True, eq=False)
class EncodedText:
    """Encoded instructions, one after another. Shapes: T instructions, S words of all, D hidden units."""

    words: Tensor  # (S, D) a vector per word, in context
    lengths: Tensor  # (T,) words
    summary: Tensor  # (T, D) the encoder's last state, u(x)
    tokens: Tensor  # (S,) word ids
    cell: Tensor  # (T, D) the encoder's last cell


@dataclass(frozen=True, slots=True, eq=False)
class TextBatch:
    """The instruction that each walker reads. Shapes: B walkers, L words (padded), D hidden units."""

    words: Tensor  # (B, L, D)
    tokens: Tensor  # (B, L) word ids, 0 for padding
    summary: Tensor  # (B, D) u(x)
    lengths: Tensor  # (B,) words
    cell: Tensor  # (B, D) the encoder's last cell

    @classmethod
    def of(cls, encoded: EncodedText, which: Tensor, copies: int = 1) -> TextBatch:
        """Of some instructions (T',), each read by `copies` walkers in a row."""
        which = which.repeat_interleave(copies)
        lengths = encoded.lengths[which]
        starts = (encoded.lengths.cumsum(0) - encoded.lengths)[which]
        inside = positions_below(lengths)
        place = (starts[:, None] + torch.arange(inside.shape[1], device=starts.device)).where(inside, 0)
        words = encoded.words[place] * inside[..., None]
        tokens = encoded.tokens[place] * inside
        return cls(words, tokens, encoded.summary[which], lengths, encoded.cell[which])

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, which: Tensor) -> TextBatch:
        """Some walkers' instructions; indices may repeat."""
        parts = (self.words, self.tokens, self.summary, self.lengths, self.cell)
        return TextBatch(*(part.index_select(0, which) for part in parts))

    @property
    def max_words(self) -> int:
        """L."""
        return self.words.shape[1]

    @property
    def padding(self) -> Tensor:
        """(B, L) bool, True where there is no word."""
        return torch.arange(self.max_words, device=self.lengths.device) >= self.lengths[:, None]

    def per_walker(self, values: Tensor) -> Tensor:
        """(B, X) of values that were computed from `summary` or `cell`."""
        return values

    def match(self, query: Tensor) -> Tensor:
        """(B, L) the dot product of each walker's query (B, D) with its words."""
        return torch.bmm(self.words, query[..., None])[..., 0]

    def mix(self, weights: Tensor) -> Tensor:
        """(B, D) the sum of each walker's words with weights (B, L)."""
        return torch.bmm(weights[:, None], self.words)[:, 0]

    def mix_embeddings(self, weights: Tensor, embedding: Callable[[Tensor], Tensor]) -> Tensor:
        """(B, X) likewise for a fixed embedding of the word ids, (B, L) -> (B, L, X)."""
        return torch.bmm(weights[:, None], embedding(self.tokens))[:, 0]


class TextEncoder(nn.Module):
    """u: word vectors and an LSTM over the reversed words.

    Shapes: T instructions, L words, S words of all, V vocabulary, W word vector, D hidden units.
    """

    def __init__(
        self, vectors: Tensor, hidden: int, *, dropout: float, frozen: bool, word_dropout: bool = True
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vectors.shape[0], vectors.shape[1], padding_idx=0)  # (V, W)
        self.embedding.weight.data.copy_(vectors)
        self.embedding.weight.requires_grad_(not frozen)
        self.dropout = nn.Dropout(dropout)
        self.word_dropout = nn.Dropout(dropout if word_dropout else 0.0)
        self.lstm = PackedLSTM(vectors.shape[1], hidden)

    def forward(
        self,
        tokens: Tensor,  # (T, L) word ids, 0 for padding
        lengths: Tensor,  # (T,) words, at least 1
    ) -> EncodedText:
        """Encode; the word vectors come back in the order of the text."""
        words = tokens[torch.arange(tokens.shape[1], device=lengths.device) < lengths[:, None]]  # (S,)
        states, last, cell = self.lstm(self.word_dropout(self.embedding(words)), lengths, reverse=True)
        return EncodedText(self.dropout(states), lengths, last, words, cell)
