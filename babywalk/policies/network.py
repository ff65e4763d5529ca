"""The BabyWalk network: encoders, memory and policy of section 4.1 and appendix B.1 of the paper.

SEQ2SEQ is the same network with the whole instruction as one step and nothing to remember.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from babywalk.policies.config import PolicyConfig
from babywalk.policies.parts.decoder import DECODERS, Decision, State
from babywalk.policies.parts.likeness import Likeness
from babywalk.policies.parts.memory import summary
from babywalk.policies.parts.text import Text, TextEncoder
from babywalk.policies.parts.trajectory import TrajectoryEncoder


class Network(nn.Module):
    """Reads a step, remembers the steps before, decides the next action.

    Shapes: B walkers, L words, T actions of a walk, K to choose from, F numbers per view, A per action.
    """

    def __init__(
        self,
        config: PolicyConfig,
        *,
        vectors: Tensor,
        frozen_words: bool,
        view_width: int,
        action_width: int,
        columns: tuple[str, ...] = (),  # names of the features of a view, where they have names
    ) -> None:
        super().__init__()
        hidden = config.hidden
        self.config = config
        self.action_width = action_width
        self.text = TextEncoder(vectors, hidden, dropout=config.dropout, frozen=frozen_words)
        self.first_state = nn.Linear(hidden, hidden)
        self.trajectory = (
            None
            if config.memory == "none"
            else TrajectoryEncoder(view_width, action_width, hidden, dropout=config.dropout)
        )
        self.memory = summary(config.memory, hidden, 2 * hidden, gamma=config.gamma)
        self.decoder = DECODERS[config.decoder](
            view_width, action_width, hidden, 3 * hidden, config.action, dropout=config.dropout
        )
        self.likeness = None
        if config.likeness and columns:
            self.likeness = Likeness(columns, len(vectors), config.likeness, hidden)

    def read(self, tokens: Tensor, lengths: Tensor) -> Text:
        """Read steps (B, L)."""
        read: Text = self.text(tokens, lengths)
        return read

    def recall(self, views: Tensor, actions: Tensor, lengths: Tensor) -> Tensor:
        """(B, 2 D) walks (B, T, ...) as they are remembered: v(y)."""
        if self.trajectory is None:
            return views.new_zeros(len(views), 2 * self.config.hidden)
        recalled: Tensor = self.trajectory(views, actions, lengths)
        return recalled

    def begin(self, text: Text) -> State:
        """The state in which a step begins: what was read, and no action before."""
        hidden = torch.tanh(self.first_state(text.summary))
        return State(hidden, torch.zeros_like(hidden), hidden.new_zeros(len(hidden), self.action_width))

    def forward(
        self,
        state: State,
        views: Tensor,  # (B, 36, F)
        candidates: Tensor,  # (B, K, A)
        possible: Tensor,  # (B, K) bool
        text: Text,
        memory: Tensor,  # (B, M) as read from the memory
    ) -> Decision:
        """Decide one action."""
        decision: Decision = self.decoder(state, views, candidates, possible, text, memory)
        if self.likeness is None:
            return decision
        more = self.likeness(decision.grounded, decision.word_weights, text.tokens, views, candidates)
        return replace(decision, logits=decision.logits + more)
