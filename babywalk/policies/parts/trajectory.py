"""Remembering a walk: the trajectory encoder v, two Bi-LSTMs that look at the panorama between them."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from babywalk.policies.parts.attention import ViewAttention


class TrajectoryEncoder(nn.Module):
    """v: the first Bi-LSTM reads the actions, each of its states looks at the panorama of its step, and the
    second Bi-LSTM reads what was seen; the last states of both are the encoding (section 4.4, appendix B.1).

    Shapes: B walks, T steps (padded), F numbers per view, A numbers per action, D hidden units.
    """

    def __init__(self, view_width: int, action_width: int, hidden: int, *, dropout: float) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.actions = nn.LSTM(action_width, hidden // 2, batch_first=True, bidirectional=True)
        self.look = ViewAttention(hidden, view_width)
        self.states = nn.LSTM(view_width, hidden // 2, batch_first=True, bidirectional=True)

    def forward(
        self,
        views: Tensor,  # (B, T, 36, F)
        actions: Tensor,  # (B, T, A)
        lengths: Tensor,  # (B,) steps, at least 1
    ) -> Tensor:  # (B, 2 D)
        """Encode whole walks."""
        batch, steps = actions.shape[:2]
        told, done = self._read(self.actions, self.drop(actions), lengths)
        unpacked, _ = pad_packed_sequence(told, batch_first=True, total_length=steps)
        seen, _ = self.look(unpacked.reshape(batch * steps, -1), views.flatten(0, 1))
        _, saw = self._read(self.states, self.drop(seen.view(batch, steps, -1)), lengths)
        return torch.cat([done, saw], dim=1)

    @staticmethod
    def _read(lstm: nn.LSTM, inputs: Tensor, lengths: Tensor) -> tuple[PackedSequence, Tensor]:
        """All states, and the last ones of both directions side by side (B, D)."""
        packed = pack_padded_sequence(inputs, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, (last, _) = lstm(packed)
        return states, torch.cat([last[0], last[1]], dim=1)
