"""Deciding: the recurrent cell that turns what is read, seen and remembered into a score per action."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from babywalk.policies.parts.attention import SoftDot, ViewAttention, WordAttention
from babywalk.policies.parts.memory import evened
from babywalk.policies.parts.text import Text


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Where walkers are in thought. Shapes: B walkers, D hidden units, A numbers per action."""

    hidden: Tensor  # (B, D)
    cell: Tensor  # (B, D)
    action: Tensor  # (B, A) the action taken last; zero at first

    def __getitem__(self, which: Tensor) -> State:
        parts = (self.hidden, self.cell, self.action)
        return State(*(part.index_select(0, which) for part in parts))


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """One step's scores and what they rest on. Shapes: B walkers, K actions, L words, S views."""

    logits: Tensor  # (B, K), minus infinity where there is no such action
    state: State
    grounded: Tensor  # (B, D) state and words as one, on which the scores rest
    word_weights: Tensor  # (B, L)
    view_weights: Tensor  # (B, S)


class ActionScore(nn.Module):
    """A two-layer MLP over [state, memory], multiplied with each embedded action, and a linear score.

    Shapes: B walkers, K actions, A numbers per action, E of an embedded one.
    """

    def __init__(self, state: int, memory: int, action: int, embedded: int, *, dropout: float) -> None:
        super().__init__()
        self.mix = nn.Sequential(
            nn.Linear(state + memory, state), nn.ReLU(), nn.Dropout(dropout), nn.Linear(state, embedded)
        )
        self.embed = nn.Linear(action, embedded)
        self.score = nn.Linear(embedded, 1)

    def forward(
        self,
        state: Tensor,  # (B, D)
        memory: Tensor,  # (B, M)
        candidates: Tensor,  # (B, K, A)
        possible: Tensor,  # (B, K) bool
    ) -> Tensor:  # (B, K)
        """Score."""
        wanted = self.mix(torch.cat([evened(state), memory], dim=1))
        # score(wanted * embed(a)) = (wanted * score.weight) . embed(a) + bias: one product per action.
        weighed = wanted * self.score.weight
        logits = torch.bmm(self.embed(candidates), weighed[..., None])[..., 0] + self.score.bias
        return logits.masked_fill(~possible, -torch.inf)


class CoAttend(nn.Module):
    """The paper's decoder (Fried et al. 2018): look at the panorama, step the LSTM, then read the words."""

    def __init__(
        self, view: int, action: int, hidden: int, memory: int, embedded: int, *, dropout: float
    ) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.look = ViewAttention(hidden, view)
        self.lstm = nn.LSTMCell(action + view, hidden)
        self.read = WordAttention(hidden)
        self.act = ActionScore(hidden, memory, action, embedded, dropout=dropout)

    def forward(
        self,
        state: State,
        views: Tensor,  # (B, 36, F)
        candidates: Tensor,  # (B, K, A)
        possible: Tensor,  # (B, K) bool
        text: Text,
        memory: Tensor,  # (B, M)
    ) -> Decision:
        """One step."""
        seen, view_weights = self.look(state.hidden, views)
        hidden, cell = self.lstm(
            self.drop(torch.cat([state.action, seen], dim=1)), (state.hidden, state.cell)
        )
        grounded, word_weights = self.read(self.drop(hidden), text.words, text.padding)
        logits = self.act(grounded, memory, candidates, possible)
        return Decision(logits, State(hidden, cell, state.action), grounded, word_weights, view_weights)


class CoGround(nn.Module):
    """The co-grounding decoder of self-monitoring agents (Ma et al. 2019): read and look by the state before,
    step the LSTM on both, score by state and words. Words carry their position; it looks at candidates.
    """

    def __init__(
        self, view: int, action: int, hidden: int, memory: int, embedded: int, *, dropout: float
    ) -> None:
        super().__init__()
        del view  # it looks at candidates alone
        self.drop = nn.Dropout(dropout)
        # Layer instead of batch norm: a single walker must be scored as it is in a crowd.
        self.candidate = nn.Sequential(nn.Linear(action, embedded), nn.LayerNorm(embedded), nn.ReLU())
        self.look = ViewAttention(hidden, embedded)
        self.read = SoftDot(hidden)
        self.previous = nn.Linear(action, embedded)
        self.lstm = nn.LSTMCell(hidden + 2 * embedded, hidden)
        self.merge = nn.Linear(2 * hidden, hidden)
        self.act = ActionScore(hidden, memory, embedded, embedded, dropout=dropout)

    def forward(
        self,
        state: State,
        views: Tensor,  # (B, 36, F)
        candidates: Tensor,  # (B, K, A)
        possible: Tensor,  # (B, K) bool
        text: Text,
        memory: Tensor,  # (B, M)
    ) -> Decision:
        """One step."""
        del views
        words = text.words + positions(text.words.shape[1], text.words.shape[2])
        context, word_weights = self.read(state.hidden, words, text.padding)
        shown = self.candidate(candidates)
        seen, view_weights = self.look(state.hidden, shown, ~possible)
        inputs = torch.cat([context, seen, self.previous(state.action)], dim=1)
        hidden, cell = self.lstm(self.drop(inputs), (state.hidden, state.cell))
        grounded = torch.tanh(self.merge(self.drop(torch.cat([hidden, context], dim=1))))
        logits = self.act(grounded, memory, shown, possible)
        return Decision(logits, State(hidden, cell, state.action), grounded, word_weights, view_weights)


DECODERS = {"coattend": CoAttend, "coground": CoGround}


def positions(count: int, width: int) -> Tensor:
    """(count, width) sinusoids of the place of a word."""
    place = torch.arange(count)[:, None]
    rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    table = torch.zeros(count, width)
    table[:, 0::2] = torch.sin(place * rate)
    table[:, 1::2] = torch.cos(place * rate)
    return table
