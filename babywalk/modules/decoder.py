"""Deciding: the recurrent cell that turns what is read, seen and remembered into a score per action."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from babywalk.modules.attention import SoftDot, ViewAttention, WordAttention
from babywalk.modules.kernels.deferred_gradients import Linear, LSTMCell
from babywalk.modules.kernels.dropout import Dropout
from babywalk.modules.kernels.observation import ChosenActions, Observation
from babywalk.modules.kernels.text_batch import TextBatch
from babywalk.modules.memory import l2_rescaled


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Where walkers are in thought. Shapes: B walkers, D hidden units."""

    hidden: Tensor  # (B, D)
    cell: Tensor  # (B, D)
    action: ChosenActions | None  # B of them, taken last; None at first

    def __getitem__(self, which: Tensor) -> State:
        hidden, cell = (part.index_select(0, which) for part in (self.hidden, self.cell))
        return State(hidden, cell, None if self.action is None else self.action[which])


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """One step's scores and what they rest on. Shapes: B walkers, K actions, L words, S views."""

    logits: Tensor  # (B, K), minus infinity where there is no such action
    state: State
    word_weights: Tensor  # (B, L)
    view_weights: Tensor  # (B, S)


class ActionScore(nn.Module):
    """A two-layer MLP over [state, memory], multiplied with each embedded action, and a linear score.

    Shapes: B walkers, A numbers per action, E of an embedded one.
    """

    def __init__(self, state: int, memory: int, action: int, embedded: int, *, dropout: float) -> None:
        super().__init__()
        self.mix = nn.ModuleList(
            [Linear(state + memory, state), nn.ReLU(), Dropout(dropout), Linear(state, embedded)]
        )
        self.embed = Linear(action, embedded)
        self.score = nn.Linear(embedded, 1)

    def forward(
        self,
        state: Tensor,  # (B, D)
        memory: Tensor,  # (B, M)
    ) -> tuple[Tensor, Tensor]:  # (B, A) and (B, 1)
        """What is wanted: an action is scored by its product with the first, plus the second.

        score(wanted * embed(a)) = (wanted * score.weight) . (W a + b) + bias, and W is moved to the left side
        of the product: it is one multiplication for each walker instead of one for each of its actions.
        """
        first, squash, drop, last = self.mix
        weighed = last(drop(squash(first(l2_rescaled(state), memory)))) * self.score.weight
        return self.embed.turned(weighed), (weighed @ self.embed.bias)[:, None] + self.score.bias


class CoAttend(nn.Module):
    """The paper's decoder (Fried et al. 2018): look at the panorama, step the LSTM, then read the words."""

    def __init__(
        self, view: int, action: int, hidden: int, memory: int, embedded: int, *, dropout: float
    ) -> None:
        super().__init__()
        self.drop = Dropout(dropout)
        self.look = ViewAttention(hidden, view)
        self.lstm = LSTMCell(action + view, hidden)
        self.read = WordAttention(hidden)
        self.act = ActionScore(hidden, memory, action, embedded, dropout=dropout)

    def forward(
        self,
        state: State,
        scene: Observation,
        readers: TextBatch,
        memory: Tensor,  # (B, M)
    ) -> Decision:
        """One step."""
        seen, view_weights = self.look(state.hidden, scene)
        before = None if state.action is None else state.action.dropped(self.drop)
        inputs = (before, seen.dropped(self.drop))
        hidden, cell = self.lstm.step(inputs, state.hidden, state.cell)
        grounded, word_weights = self.read(self.drop(hidden), readers)
        wanted, offset = self.act(grounded, memory)
        logits = (scene.compare(wanted) + offset).masked_fill(~scene.possible, -torch.inf)
        return Decision(logits, State(hidden, cell, state.action), word_weights, view_weights)


class CoGround(nn.Module):
    """The co-grounding decoder of self-monitoring agents (Ma et al. 2019): read and look by the state before,
    step the LSTM on both, score by state and words. Words carry their position; it looks at candidates.
    """

    def __init__(
        self, view: int, action: int, hidden: int, memory: int, embedded: int, *, dropout: float
    ) -> None:
        super().__init__()
        del view  # it looks at candidates alone
        self.drop = Dropout(dropout)
        # Layer instead of batch norm: a single walker must be scored as it is in a crowd.
        self.candidate = nn.Sequential(nn.Linear(action, embedded), nn.LayerNorm(embedded), nn.ReLU())
        self.look = ViewAttention(hidden, embedded)
        self.read = SoftDot(hidden)
        self.previous = Linear(action, embedded)
        self.lstm = LSTMCell(hidden + 2 * embedded, hidden)
        self.merge = Linear(2 * hidden, hidden)
        self.act = ActionScore(hidden, memory, embedded, embedded, dropout=dropout)

    def forward(
        self,
        state: State,
        scene: Observation,
        readers: TextBatch,
        memory: Tensor,  # (B, M)
    ) -> Decision:
        """One step."""
        places = positions(readers.most_words, state.hidden.shape[1])
        context, word_weights = self.read(state.hidden, readers, places)
        shown = self.candidate(scene.candidates())
        seen, view_weights = self.look.among(state.hidden, shown, ~scene.possible)
        # No action is a vector of zeros, of which the layer leaves its bias.
        before = self.previous.bias.expand(len(seen), -1)
        if state.action is not None:
            before = self.previous(state.action.numbers())
        inputs = tuple(self.drop(part) for part in (context, seen, before))
        hidden, cell = self.lstm.step(inputs, state.hidden, state.cell)
        grounded = torch.tanh(self.merge(self.drop(hidden), self.drop(context)))
        wanted, offset = self.act(grounded, memory)
        logits = torch.bmm(shown, wanted[..., None])[..., 0] + offset
        logits = logits.masked_fill(~scene.possible, -torch.inf)
        return Decision(logits, State(hidden, cell, state.action), word_weights, view_weights)


DECODERS = {"coattend": CoAttend, "coground": CoGround}


def positions(count: int, width: int) -> Tensor:
    """(count, width) sinusoids of the place of a word."""
    place = torch.arange(count)[:, None]
    rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    table = torch.zeros(count, width)
    table[:, 0::2] = torch.sin(place * rate)
    table[:, 1::2] = torch.cos(place * rate)
    return table
