"""LSTMs over rows of different lengths, without packing.

A packed sequence is the usual way, but on a CPU its gradient fills and adds a table of the size of the whole
batch at every time step. Rows of similar length, run together and padded, take a third of the time.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

_BUCKETS = 4


def run(lstm: nn.LSTM, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """All states (B, T, D) and the last state of each row (B, D), for inputs (B, T, I) of lengths (B,) >= 1.

    What stands after the end of a row is not to be used.
    """
    count, steps = inputs.shape[:2]
    order = lengths.argsort()
    pieces = []
    for rows in order.chunk(min(_BUCKETS, count)):
        longest = int(lengths[rows].max())
        states, _ = lstm(inputs.index_select(0, rows)[:, :longest])
        pieces.append(functional.pad(states, (0, 0, 0, steps - longest)))
    states = torch.cat(pieces).index_select(0, order.argsort())
    return states, states[torch.arange(count), lengths - 1]


def backwards(rows: Tensor, lengths: Tensor) -> Tensor:
    """Rows (B, T, ...) from their last entry to their first; what stands after their ends is not for use."""
    places = (lengths[:, None] - 1 - torch.arange(rows.shape[1])).clamp(min=0)
    return rows.gather(1, places.view(*places.shape, *[1] * (rows.ndim - 2)).expand_as(rows))


class BothWays(nn.Module):
    """A Bi-LSTM: one forth, one back. Shapes: B rows, T steps, I inputs, D hidden units of both together."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.forth = nn.LSTM(inputs, hidden // 2, batch_first=True)
        self.back = nn.LSTM(inputs, hidden // 2, batch_first=True)

    def forward(self, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """All states (B, T, D), and the last ones of both directions (B, D)."""
        forth, ended = run(self.forth, inputs, lengths)
        back, began = run(self.back, backwards(inputs, lengths), lengths)
        return torch.cat([forth, backwards(back, lengths)], dim=2), torch.cat([ended, began], dim=1)
