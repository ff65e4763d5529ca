"""The speaker's network: the trajectory encoder of the agents, and an LSTM that writes what it encodes.

As that of Speaker-Follower (Fried et al. 2018), with the encoder of Tan et al. (2019) and their attention
after the LSTM: what lies on the walk is looked up by a word that was begun, so that all words of a known
text are read at once.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from babywalk.modules.kernels.dropout import Dropout
from babywalk.modules.kernels.observation import ChosenActions, Observation
from babywalk.modules.kernels.packed_lstm import run, starts
from babywalk.modules.trajectory_encoder import TrajectoryEncoder


class SpeakerNetwork(nn.Module):
    """Shapes: B walks, S steps of all of them, T words of all texts, V words, D hidden units."""

    def __init__(
        self, vectors: Tensor, view_width: int, action_width: int, hidden: int, *, dropout: float
    ) -> None:
        super().__init__()
        words, width = vectors.shape
        self.trajectory = TrajectoryEncoder(view_width, action_width, hidden, dropout=dropout)
        self.vectors = nn.Embedding(words, width)
        self.vectors.weight.data.copy_(vectors)
        self.drop = Dropout(dropout)
        self.about = nn.Linear(2 * hidden, width)
        self.lstm = nn.LSTM(width, hidden, batch_first=True)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.join = nn.Linear(2 * hidden, hidden, bias=False)
        self.word = nn.Linear(hidden, words)

    def walked(self, scene: Observation, actions: ChosenActions, lengths: Tensor) -> EncodedWalks:
        """Walks as they are spoken of."""
        states, whole = self.trajectory.each_step(scene, actions, lengths)
        places = torch.arange(int(lengths.max()))
        absent = places >= lengths[:, None]
        rows = (starts(lengths)[:, None] + places).masked_fill(absent, 0)
        padded = self.drop(states).index_select(0, rows.flatten()).view(*rows.shape, -1)
        return EncodedWalks(padded, absent, self.about(self.drop(whole)))

    def forward(
        self,
        walks: EncodedWalks,
        words: Tensor,  # (T,) the word before each, text after text
        lengths: Tensor,  # (B,) words of each text
    ) -> Tensor:  # (T, V)
        """Scores of each word of known texts."""
        walk = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
        inputs = self.drop(self.vectors(words)) + walks.whole.index_select(0, walk)
        states, _ = run(self.lstm, inputs, lengths)
        places = torch.arange(len(walk)) - starts(lengths)[walk]
        laid_out = states.new_zeros(len(lengths), int(lengths.max()), states.shape[1])
        laid_out = laid_out.index_put((walk, places), states)
        return self._scores(laid_out, walks)[walk, places]

    def next(
        self,
        walks: EncodedWalks,
        words: Tensor,  # (B,) the word before
        state: tuple[Tensor, Tensor] | None,  # (1, B, D) each; None at the beginning
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:  # (B, V), and the state after
        """Scores of the next word."""
        inputs = self.vectors(words) + walks.whole
        states, state = self.lstm(inputs[:, None], state)
        return self._scores(states, walks)[:, 0], state

    def _scores(self, states: Tensor, walks: EncodedWalks) -> Tensor:  # (B, L, D) -> (B, L, V)
        states = self.drop(states)
        fit = torch.bmm(self.query(states), walks.states.mT)
        weights = fit.masked_fill(walks.absent[:, None], -torch.inf).softmax(dim=2)
        joined = torch.cat([torch.bmm(weights, walks.states), states], dim=2)
        scores: Tensor = self.word(self.drop(torch.tanh(self.join(joined))))
        return scores


class EncodedWalks:
    """What words are said of. Shapes: B walks, P steps (padded), D hidden units, W numbers per word."""

    def __init__(self, states: Tensor, absent: Tensor, whole: Tensor) -> None:
        self.states = states  # (B, P, D)
        self.absent = absent  # (B, P) bool, True where there is no step
        self.whole = whole  # (B, W) what all of a walk adds to each of its words
