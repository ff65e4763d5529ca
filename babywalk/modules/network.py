"""The BabyWalk network: encoders, memory and policy of section 4.1 and appendix B.1 of the paper.

SEQ2SEQ is the same network with the whole instruction as one step and nothing to remember.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from babywalk.modules.config import PolicyConfig
from babywalk.modules.decoder import DECODERS, Decision, State
from babywalk.modules.kernels.dropout import Dropout
from babywalk.modules.kernels.observation import ChosenActions, Observation
from babywalk.modules.kernels.text_batch import TextBatch
from babywalk.modules.lexical_match import LexicalMatch
from babywalk.modules.memory import Memory, l2_rescaled, summary
from babywalk.modules.text_encoder import EncodedText, TextEncoder
from babywalk.modules.trajectory_encoder import TrajectoryEncoder


class Network(nn.Module):
    """Reads a step, remembers the steps before, decides the next action.

    Shapes: B walkers, L words.
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
        self.text = TextEncoder(vectors, hidden, dropout=config.dropout, frozen=frozen_words)
        self.first_state = nn.Linear(hidden, hidden)
        self.trajectory = (
            None
            if config.memory == "none"
            else TrajectoryEncoder(view_width, action_width, hidden, dropout=config.dropout)
        )
        self.memory = summary(config.memory, hidden, 2 * hidden, gamma=config.gamma)
        remembered = 3 * hidden
        self.context = None
        if config.context == "mlp" and config.memory != "none":
            self.context = nn.Sequential(
                nn.Linear(remembered, hidden), nn.ReLU(), Dropout(config.dropout), nn.Linear(hidden, hidden)
            )
            remembered = hidden
        self.decoder = DECODERS[config.decoder](
            view_width, action_width, hidden, remembered, config.action, dropout=config.dropout
        )
        self.likeness = None
        if config.likeness and columns:
            self.likeness = LexicalMatch(columns, len(vectors), config.likeness, hidden)

    def read(self, tokens: Tensor, lengths: Tensor) -> EncodedText:
        """Read steps (B, L)."""
        read: EncodedText = self.text(tokens, lengths)
        return read

    def recall(self, scene: Observation, actions: ChosenActions, lengths: Tensor) -> Tensor:
        """(B, 2 D) walks as they are remembered: v(y). Their scenes and actions lie end to end."""
        if self.trajectory is None:
            return torch.zeros(len(lengths), 2 * self.config.hidden)
        recalled: Tensor = self.trajectory(scene, actions, lengths)
        return recalled

    def sum_up(self, memory: Memory, heeded: Tensor | None = None) -> Tensor:
        """(B, M) z, the context in which a step is walked: g of both summaries (equation 1).

        `heeded` (B, 1) is 0 for walkers who are to find their way as if nothing lay behind them, else 1.
        """
        summaries = self.memory.read(memory)
        if heeded is not None:
            summaries = summaries * heeded
        return summaries if self.context is None else l2_rescaled(self.context(summaries))

    def begin(self, readers: TextBatch) -> State:
        """The state in which a step begins: what was read, and no action before."""
        hidden = torch.tanh(self.first_state(readers.summary))
        hidden = hidden.index_select(0, readers.rows)
        return State(hidden, torch.zeros_like(hidden), None)

    def forward(
        self,
        state: State,
        scene: Observation,
        readers: TextBatch,
        context: Tensor,  # (B, M) of the step
    ) -> Decision:
        """Decide one action."""
        decision: Decision = self.decoder(state, scene, readers, context)
        if self.likeness is None:
            return decision
        more = self.likeness(decision.state.hidden, decision.word_weights, readers, scene)
        return replace(decision, logits=decision.logits + more)
