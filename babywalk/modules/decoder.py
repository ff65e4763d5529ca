"""Decoder cells: from instruction, observation and memory to a score per action."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from babywalk.modules.attention import SoftDot, ViewAttention, WordAttention
from babywalk.modules.layers import Linear, LSTMCell
from babywalk.modules.memory import l2_rescaled
from babywalk.modules.observation import Observation
from babywalk.modules.progress_monitor import ProgressMonitor
from babywalk.modules.text_encoder import TextBatch

if TYPE_CHECKING:
    from typing import Self  # Python 3.11


@dataclass(frozen=True, eq=False)
class State:
    """The recurrent state of walkers. Shapes: B walkers, D hidden units, A features per action.

    All fields but the action are tensors (B, ...); decoders may add fields.
    """

    hidden: Tensor  # (B, D)
    cell: Tensor  # (B, D)
    action: Tensor  # (B, A) the previous action, as `Observation.chosen` gives it; STOP at the start

    def __getitem__(self, which: Tensor) -> Self:
        """Some walkers' states; indices may repeat."""
        kept = {name: value.index_select(0, which) for name, value in self.tensors().items()}
        return replace(self, **kept, action=self.action[which])

    def tensors(self) -> dict[str, Tensor]:
        """All fields but the action, by name."""
        return {part.name: getattr(self, part.name) for part in fields(self) if part.name != "action"}


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """Scores of all actions and the attention behind them. Shapes: B walkers, K actions, L words, S views."""

    logits: Tensor  # (B, K), minus infinity where there is no such action
    state: State  # after the step; its action is still the previous one
    word_weights: Tensor  # (B, L)
    view_weights: Tensor  # (B, S); co-grounding attends to candidates, so S = K
    progress: Tensor | None = None  # (B,) estimated progress, 1 at the goal; None without a progress monitor


class ActionScore(nn.Module):
    """Scores of candidates: w . (MLP([state; memory]) * (W a + b)) + c.

    Shapes: B walkers, K actions, D state, M memory, A features per action, E embedded action.
    """

    def __init__(self, state: int, memory: int, action: int, embedded: int, *, dropout: float) -> None:
        super().__init__()
        self.hidden = Linear(state + memory, state)
        self.dropout = nn.Dropout(dropout)
        self.wanted = Linear(state, embedded)
        self.embed = Linear(action, embedded)
        self.score = nn.Linear(embedded, 1)

    def forward(
        self,
        state: Tensor,  # (B, D)
        memory: Tensor,  # (B, M)
        candidates: Tensor | Observation,  # (B, K, A), or the observation whose candidates they are
    ) -> Tensor:  # (B, K)
        """Score every candidate."""
        return self.scores(self.wanted_action(state, memory), candidates)

    def scores(self, wanted: Tensor, candidates: Tensor | Observation) -> Tensor:
        """(B, K) from the wanted action (B, E)."""
        if isinstance(candidates, Observation):
            candidates = candidates.candidates()
        scores: Tensor = self.score(wanted[:, None] * self.embed(candidates))
        return scores[..., 0]

    def wanted_action(self, state: Tensor, memory: Tensor) -> Tensor:
        """(B, E) the two-layer MLP over the L2-rescaled state and the memory."""
        hidden = functional.relu(self.hidden(l2_rescaled(state), memory))
        wanted: Tensor = self.wanted(self.dropout(hidden))
        return wanted


class DecoderCell(nn.Module):
    """One step of a policy: from a state, an observation, an instruction and a memory to a decision."""

    def initial_state(self, state: State) -> State:
        """The state at the start of a Baby-Step, with the fields that this decoder adds."""
        return state


class CoAttend(DecoderCell):
    """The paper's decoder (Fried et al. 2018): attend to views, step the LSTM, then attend to words."""

    def __init__(
        self,
        view: int,
        action: int,
        hidden: int,
        memory: int,
        embedded: int,
        *,
        dropout: float,
        score_dropout: float,
        projection: int,
    ) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.view_attention = ViewAttention(hidden, view, projection)
        self.lstm = LSTMCell(action + view, hidden)
        self.word_attention = WordAttention(hidden)
        self.action_score = ActionScore(hidden, memory, action, embedded, dropout=score_dropout)

    def forward(
        self,
        state: State,
        observation: Observation,
        text: TextBatch,
        memory: Tensor,  # (B, M)
    ) -> Decision:
        """One step."""
        attended, view_weights = self.view_attention(state.hidden, observation)
        inputs = (self.dropout(state.action), self.dropout(attended))
        hidden, cell = self.lstm(inputs, state.hidden, state.cell)
        grounded, word_weights = self.word_attention(self.dropout(hidden), text)
        logits = self.action_score(grounded, memory, observation)
        logits = logits.masked_fill(~observation.possible, -torch.inf)
        return Decision(logits, replace(state, hidden=hidden, cell=cell), word_weights, view_weights)


@dataclass(frozen=True, slots=True, eq=False)
class Grounded:
    """What co-grounding finds before it scores. Shapes: B walkers, K actions, E embedded action, D hidden."""

    hidden: Tensor  # (B, D) h_t
    cell: Tensor  # (B, D) c_t
    query: Tensor  # (B, D) from the hidden state and the attended words
    projected: Tensor  # (B, K, E) candidates before normalisation
    candidates: Tensor  # (B, K, E)
    word_weights: Tensor  # (B, L)
    candidate_weights: Tensor  # (B, K)
    progress: Tensor | None  # (B,)


class CoGround(DecoderCell):
    """The co-grounding decoder of self-monitoring agents (Ma et al. 2019): attend to words and candidates
    with the previous state, step the LSTM on both, score by state and words. Words carry positional
    encodings. Optionally it estimates progress.
    """

    def __init__(
        self,
        view: int,
        action: int,
        hidden: int,
        memory: int,
        embedded: int,
        *,
        dropout: float,
        score_dropout: float,
        projection: int,
        progress_monitor: bool = False,
    ) -> None:
        super().__init__()
        del view  # only candidates are attended to
        self.dropout = nn.Dropout(dropout)
        # Layer norm instead of the paper's batch norm: a score must not depend on the rest of the batch.
        self.candidate = nn.Sequential(nn.Linear(action, embedded), nn.LayerNorm(embedded), nn.ReLU())
        self.view_attention = ViewAttention(hidden, embedded, projection)
        self.word_attention = SoftDot(hidden)
        self.previous = Linear(action, embedded)
        self.lstm = LSTMCell(hidden + 2 * embedded, hidden)
        self.merge = Linear(2 * hidden, hidden)
        self.action_score = ActionScore(hidden, memory, embedded, embedded, dropout=score_dropout)
        self.progress_monitor = ProgressMonitor(hidden, embedded) if progress_monitor else None

    def ground(self, state: State, observation: Observation, text: TextBatch) -> Grounded:
        """Attend and step the LSTM."""
        position = positional_encoding(text.max_words, like=state.hidden)
        words, word_weights = self.word_attention(state.hidden, text, position)
        projected = self.candidate[0](observation.candidates())
        candidates = self.candidate[1:](projected)
        attended, weights = self.view_attention.over(state.hidden, candidates, observation.possible)
        inputs = tuple(self.dropout(part) for part in (words, attended, self.previous(state.action)))
        hidden, cell = self.lstm(inputs, state.hidden, state.cell)
        query = torch.tanh(self.merge(self.dropout(hidden), self.dropout(words)))
        progress = None
        if self.progress_monitor is not None:
            lengths = text.per_walker(text.lengths)
            progress = self.progress_monitor(state.hidden, attended, cell, word_weights, lengths)
        return Grounded(hidden, cell, query, projected, candidates, word_weights, weights, progress)

    def forward(
        self,
        state: State,
        observation: Observation,
        text: TextBatch,
        memory: Tensor,  # (B, M)
    ) -> Decision:
        """One step."""
        found = self.ground(state, observation, text)
        logits = self.action_score(found.query, memory, found.candidates)
        logits = logits.masked_fill(~observation.possible, -torch.inf)
        after = replace(state, hidden=found.hidden, cell=found.cell)
        return Decision(logits, after, found.word_weights, found.candidate_weights, found.progress)


def positional_encoding(count: int, *, like: Tensor) -> Tensor:
    """(count, D) sinusoids of the positions of words; D, device and dtype are those of `like` (..., D)."""
    width = like.shape[-1]
    position = torch.arange(count, device=like.device)[:, None]
    rate = torch.exp(torch.arange(0, width, 2, device=like.device) * (-math.log(10_000.0) / width))
    table = like.new_zeros(count, width)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)
    return table
