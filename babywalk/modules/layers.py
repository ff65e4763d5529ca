"""Layers over several inputs side by side, and LSTMs over rows of different lengths.

These are torch's own layers with another way to pass their inputs. `modules/kernels/` has faster versions for
a CPU with the same parameters.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Linear(nn.Linear):
    """W [x_1; x_2; ...] + b, for inputs (B, I_1), (B, I_2), ... that are concatenated."""

    def forward(self, *inputs: Tensor) -> Tensor:
        """(B, O)."""
        return super().forward(torch.cat(inputs, dim=-1))


class LSTMCell(nn.LSTMCell):
    """One LSTM step over inputs that are concatenated. Shapes: B walkers, D hidden units."""

    def forward(  # type: ignore[override]  # torch's cell takes one tensor and a pair of states
        self, inputs: Sequence[Tensor], hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The next hidden state and cell (B, D)."""
        return super().forward(torch.cat(tuple(inputs), dim=-1), (hidden, cell))


class PackedLSTM(nn.LSTM):
    """An LSTM over rows of different lengths that are stored one after another, without padding.

    Shapes: B rows, S inputs of all rows, I features per input, D hidden units.
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(inputs, hidden, batch_first=True)

    def forward(  # type: ignore[override]  # torch's layer takes a padded or packed batch
        self,
        inputs: Tensor,  # (S, I)
        lengths: Tensor,  # (B,) at least 1
        *,
        reverse: bool = False,  # read every row from its end to its beginning
    ) -> tuple[Tensor, Tensor, Tensor]:  # (S, D), (B, D), (B, D)
        """The hidden states in the places of their inputs, and the last hidden state and cell of each row."""
        place = padded_places(lengths, reverse=reverse)  # (B, L)
        packed = pack_padded_sequence(inputs[place], lengths.cpu(), batch_first=True, enforce_sorted=False)
        output, (last, cell) = super().forward(packed)
        padded, _ = pad_packed_sequence(output, batch_first=True)  # (B, L, D)
        inside = positions_below(lengths)
        states = padded.new_zeros(len(inputs), padded.shape[2]).index_copy(0, place[inside], padded[inside])
        return states, last[0], cell[0]


class BiLSTM(nn.Module):
    """Two LSTMs over the same rows, one in each direction. Shapes: B rows, S inputs, D units of both."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.forward_lstm = PackedLSTM(inputs, hidden // 2)
        self.backward_lstm = PackedLSTM(inputs, hidden // 2)

    def forward(self, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """All states (S, D), and the last states of both directions (B, D)."""
        forward, forward_last, _ = self.forward_lstm(inputs, lengths)
        backward, backward_last, _ = self.backward_lstm(inputs, lengths, reverse=True)
        return torch.cat([forward, backward], dim=1), torch.cat([forward_last, backward_last], dim=1)


def row_starts(lengths: Tensor) -> Tensor:
    """(B,) the first place of each row, for rows of lengths (B,) stored one after another."""
    return lengths.cumsum(0) - lengths


def positions_below(lengths: Tensor) -> Tensor:
    """(B, L) bool, True at the positions that a row of each length has; L is the longest."""
    return torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]


def padded_places(lengths: Tensor, *, reverse: bool = False) -> Tensor:
    """(B, L) where each position of padded rows is stored; the row's last place beyond its length."""
    position = torch.arange(int(lengths.max()), device=lengths.device).minimum(lengths[:, None] - 1)
    if reverse:
        position = lengths[:, None] - 1 - position
    return row_starts(lengths)[:, None] + position
