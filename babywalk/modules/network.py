"""The network of BABYWALK: encoders, memory and policy (section 4.1 and appendix B.1 of the paper).

SEQ2SEQ is the same network with the whole instruction as one step and no memory.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from babywalk.modules.config import PolicyConfig
from babywalk.modules.decoder import CoAttend, CoGround, Decision, DecoderCell, State
from babywalk.modules.lexical_match import LexicalMatch
from babywalk.modules.memory import Memory, l2_rescaled, summary
from babywalk.modules.observation import Observation
from babywalk.modules.regretful import Regretful
from babywalk.modules.text_encoder import EncodedText, TextBatch, TextEncoder
from babywalk.modules.trajectory_encoder import TrajectoryEncoder
from babywalk.navigation.world import STOP

_DECODERS: dict[str, type[DecoderCell]] = {"coattend": CoAttend, "coground": CoGround, "regretful": Regretful}
_PROJECTION = 256  # size of view attention's queries in the authors' release


class Network(nn.Module):
    """Encodes instructions and trajectories, summarises the history, scores actions.

    Shapes: B walkers, T instructions, L words, D hidden units, M context.
    """

    def __init__(
        self,
        config: PolicyConfig,
        *,
        vectors: Tensor,  # (V, W) word vectors
        frozen_words: bool,
        view_width: int,
        action_width: int,
        columns: tuple[str, ...] = (),  # names of the view features, where they have names
    ) -> None:
        super().__init__()
        hidden = config.hidden
        self.config = config
        release = config.details == "release"
        projection = _PROJECTION if release else 0
        self.text = TextEncoder(
            vectors,
            hidden,
            dropout=config.dropout,
            frozen=frozen_words,
            word_dropout=not (release and frozen_words),
        )
        self.first_hidden = nn.Linear(hidden, hidden)
        self.trajectory = (
            None
            if config.memory == "none"
            else TrajectoryEncoder(
                view_width, action_width, hidden, dropout=config.dropout, projection=projection
            )
        )
        self.memory = summary(config.memory, hidden, 2 * hidden, gamma=config.gamma)
        if release and config.memory != "none":
            self.memory.add_layers()
        context_size = 3 * hidden
        self.context_mlp = None
        if config.context == "mlp" and config.memory != "none":
            self.context_mlp = nn.Sequential(
                nn.Linear(context_size, hidden),
                nn.ReLU(),
                nn.Dropout(config.dropout),
                nn.Linear(hidden, hidden),
            )
            context_size = hidden
        self.decoder: DecoderCell = _DECODERS[config.decoder](
            view_width,
            action_width,
            hidden,
            context_size,
            config.action,
            dropout=config.dropout,
            score_dropout=0.0 if release else config.dropout,
            projection=projection,
            **({"progress_monitor": True} if config.progress_monitor else {}),
        )
        self.lexical_match = None
        if config.lexical_match and columns:
            self.lexical_match = LexicalMatch(columns, len(vectors), config.lexical_match, hidden)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.first_hidden.weight.device

    def encode_text(self, tokens: Tensor, lengths: Tensor) -> EncodedText:
        """u(x) of instructions (T, L)."""
        encoded: EncodedText = self.text(tokens, lengths)
        return encoded

    def encode_trajectory(self, observation: Observation, actions: Tensor, lengths: Tensor) -> Tensor:
        """(B, 2 D) v(y) of trajectories whose steps are stored one after another."""
        if self.trajectory is None:
            return self.first_hidden.weight.new_zeros(len(lengths), 2 * self.config.hidden)
        encoding: Tensor = self.trajectory(observation, actions, lengths)[1]
        return encoding

    def context(self, memory: Memory, keep_mask: Tensor | None = None) -> Tensor:
        """(B, M) z, the context of a Baby-Step: g of both summaries (equation 1).

        `keep_mask` (B, 1) is 0 for walkers whose history is dropped, else 1.
        """
        summaries = self.memory.read(memory)
        if keep_mask is not None:
            summaries = summaries * keep_mask
        return summaries if self.context_mlp is None else l2_rescaled(self.context_mlp(summaries))

    def initial_state(self, text: TextBatch, observation: Observation) -> State:
        """The state at the start of a Baby-Step: hidden state tanh(W u(x) + b), and no previous action."""
        hidden = text.per_walker(torch.tanh(self.first_hidden(text.summary)))
        cell = text.per_walker(text.cell) if self.config.details == "release" else torch.zeros_like(hidden)
        no_action = observation.chosen(torch.full_like(observation.poses.viewpoint, STOP))
        return self.decoder.initial_state(State(hidden, cell, no_action))

    def forward(
        self,
        state: State,
        observation: Observation,
        text: TextBatch,
        context: Tensor,  # (B, M) of the Baby-Step
    ) -> Decision:
        """Score the next action."""
        decision: Decision = self.decoder(state, observation, text, context)
        if self.lexical_match is None:
            return decision
        match = self.lexical_match(decision.state.hidden, decision.word_weights, text, observation)
        return replace(decision, logits=decision.logits + match)
