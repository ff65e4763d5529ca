"""Remembering a walk: the trajectory encoder v, two Bi-LSTMs that look at the panorama between them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from babywalk.modules.attention import ViewAttention
from babywalk.modules.kernels.dropout import Dropout
from babywalk.modules.kernels.observation import ChosenActions, Observation
from babywalk.modules.kernels.packed_lstm import BiLSTM
from babywalk.navigation.world import STOP


class TrajectoryEncoder(nn.Module):
    """v: the first Bi-LSTM reads the actions, each of its states looks at the panorama of its step, and the
    second Bi-LSTM reads what was seen; the last states of both are the encoding (section 4.4, appendix B.1).

    Shapes: B walks, S steps of all of them, F numbers per view, D hidden units.
    """

    def __init__(self, view_width: int, action_width: int, hidden: int, *, dropout: float) -> None:
        super().__init__()
        self.drop = Dropout(dropout)
        self.actions = BiLSTM(action_width, hidden)
        self.look = ViewAttention(hidden, view_width)
        self.states = BiLSTM(view_width, hidden)

    def forward(self, scene: Observation, actions: ChosenActions, lengths: Tensor) -> Tensor:  # (B, 2 D)
        """Encode whole walks; see `each_step`."""
        return self.each_step(scene, actions, lengths)[1]

    def each_step(
        self,
        scene: Observation,  # of S poses, one walk after another
        actions: ChosenActions,  # S of them
        lengths: Tensor,  # (B,) steps, at least 1
    ) -> tuple[Tensor, Tensor]:  # (S, D), (B, 2 D)
        """What was seen at every step, by what came before and after; and the encoding."""
        moves = torch.nonzero(actions.actions != STOP)[:, 0]  # STOP is a vector of zeros
        told, done = self.actions(actions[moves].dropped(self.drop), lengths, given=moves)
        seen, _ = self.look(told, scene)
        states, saw = self.states(seen.dropped(self.drop), lengths)
        return states, torch.cat([done, saw], dim=1)
