"""The trajectory encoder v: two Bi-LSTMs with attention over the panorama between them (appendix B.1)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from babywalk.modules.attention import ViewAttention
from babywalk.modules.layers import BiLSTM
from babywalk.modules.observation import Observation


class TrajectoryEncoder(nn.Module):
    """v: the first Bi-LSTM reads the actions, each of its states attends to the panorama of its step, and the
    second Bi-LSTM reads the attended views; the last states of both are the encoding (section 4.4).

    Shapes: B trajectories, S steps of all of them, F features per view, A per action, D hidden units.
    """

    def __init__(
        self, view_width: int, action_width: int, hidden: int, *, dropout: float, projection: int = 0
    ) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.action_lstm = BiLSTM(action_width, hidden)
        self.view_attention = ViewAttention(hidden, view_width, projection)
        self.view_lstm = BiLSTM(view_width, hidden)

    def forward(
        self,
        observation: Observation,  # of S poses, one trajectory after another
        actions: Tensor,  # (S, A) the action taken at each
        lengths: Tensor,  # (B,) steps, at least 1
    ) -> tuple[Tensor, Tensor]:  # (S, D), (B, 2 D)
        """A state per step in the context of the trajectory, and the encoding v(y)."""
        action_states, actions_last = self.action_lstm(self.dropout(actions), lengths)
        attended, _ = self.view_attention(action_states, observation)
        states, views_last = self.view_lstm(self.dropout(attended), lengths)
        return states, torch.cat([actions_last, views_last], dim=1)
