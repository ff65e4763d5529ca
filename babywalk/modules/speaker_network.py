"""The speaker's network: the trajectory encoder of the agents, and an LSTM that decodes words.

As in Speaker-Follower (Fried et al. 2018), with the encoder of Tan et al. (2019) and their attention after
the LSTM: with teacher forcing all words of a text are computed at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from babywalk.modules.layers import PackedLSTM, padded_places, positions_below, row_starts
from babywalk.modules.observation import Observation
from babywalk.modules.trajectory_encoder import TrajectoryEncoder


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTrajectories:
    """Encoded trajectories. Shapes: B trajectories, P steps (padded), D hidden units, W word vector."""

    keys: Tensor  # (B, P, D) of each step, for attention
    values: Tensor  # (B, P, D) likewise
    padding: Tensor  # (B, P) bool, True where there is no step
    summary: Tensor  # (B, W) added to each word vector

    def __getitem__(self, which: Tensor) -> EncodedTrajectories:
        """Some trajectories; indices may repeat."""
        parts = (self.keys, self.values, self.padding, self.summary)
        return EncodedTrajectories(*(part.index_select(0, which) for part in parts))


class SpeakerNetwork(nn.Module):
    """Shapes: B trajectories, S steps of all of them, T words of all texts, V vocabulary, D hidden units."""

    def __init__(
        self, vectors: Tensor, view_width: int, action_width: int, hidden: int, *, dropout: float
    ) -> None:
        super().__init__()
        words, width = vectors.shape
        self.trajectory = TrajectoryEncoder(view_width, action_width, hidden, dropout=dropout)
        self.vectors = nn.Embedding(words, width)
        self.vectors.weight.data.copy_(vectors)
        self.drop = nn.Dropout(dropout)
        self.about = nn.Linear(2 * hidden, width)
        self.lstm = PackedLSTM(width, hidden)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.join = nn.Linear(2 * hidden, hidden, bias=False)
        self.word = nn.Linear(hidden, words)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.about.weight.device

    def encode(self, observation: Observation, actions: Tensor, lengths: Tensor) -> EncodedTrajectories:
        """Encode trajectories; arguments as in `TrajectoryEncoder`."""
        states, encoding = self.trajectory(observation, actions, lengths)
        present = positions_below(lengths)
        places = padded_places(lengths).masked_fill(~present, 0)
        padded = self.drop(states).index_select(0, places.flatten()).view(*places.shape, -1)
        # What attention multiplies words with is multiplied with the steps instead, which are fewer:
        # (W_q s) . t = s . (W_q^T t), and W_a sum(alpha t) = sum(alpha W_a t).
        keys = padded @ self.query.weight
        values = padded @ self.join.weight[:, : self.query.in_features].mT
        return EncodedTrajectories(keys, values, ~present, self.about(self.drop(encoding)))

    def forward(
        self,
        trajectories: EncodedTrajectories,
        words: Tensor,  # (T,) the previous word of each, text after text
        lengths: Tensor,  # (B,) words of each text
    ) -> Tensor:  # (T, V or a few more, of probability 0)
        """Logits of each word of given texts (teacher forcing)."""
        text = torch.repeat_interleave(torch.arange(len(lengths), device=lengths.device), lengths)
        inputs = self.drop(self.vectors(words)) + trajectories.summary.index_select(0, text)
        states, _, _ = self.lstm(inputs, lengths)
        states = self.drop(states)
        position = torch.arange(len(text), device=text.device) - row_starts(lengths)[text]
        padded = states.new_zeros(len(lengths), int(lengths.max()), states.shape[1])
        attended = self._attend(padded.index_put((text, position), states), trajectories)
        return self._logits(attended[text, position], states)

    def next(
        self,
        trajectories: EncodedTrajectories,
        words: Tensor,  # (B,) the previous word
        state: tuple[Tensor, Tensor] | None,  # (1, B, D) each; None at the start
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:  # (B, V or a few more), and the next state
        """Logits of the next word."""
        inputs = self.vectors(words) + trajectories.summary
        states, state = nn.LSTM.forward(self.lstm, inputs[:, None], state)
        return self._logits(self._attend(states, trajectories)[:, 0], states[:, 0]), state

    def _attend(self, states: Tensor, trajectories: EncodedTrajectories) -> Tensor:  # (B, L, D), likewise
        score = torch.bmm(states, trajectories.keys.mT)
        weights = score.masked_fill(trajectories.padding[:, None], -torch.inf).softmax(dim=2)
        return torch.bmm(weights, trajectories.values)

    def _logits(self, attended: Tensor, states: Tensor) -> Tensor:  # (T, D) both
        """W_o tanh(W_a attended + W_s state) + b, where W_a is in `values`."""
        joined = torch.tanh(attended + states @ self.join.weight[:, self.query.in_features :].mT)
        # BLAS is up to twice as fast where the vocabulary is a multiple of 16: words that do not exist,
        # with probability 0, fill it up.
        missing = -len(self.word.bias) % 16
        weight = functional.pad(self.word.weight, (0, 0, 0, missing))
        return functional.linear(
            self.drop(joined), weight, functional.pad(self.word.bias, (0, missing), value=-torch.inf)
        )
