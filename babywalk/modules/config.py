"""What a learned agent is made of: sizes and choices, and presets of them."""

from __future__ import annotations

from dataclasses import dataclass

from babywalk.common.config import (
    check_at_least_one,
    check_fraction_below_one,
    check_non_negative,
    check_positive,
)
from babywalk.common.errors import ConfigError, unknown
from babywalk.instructions.identification import IdentificationConfig
from babywalk.modules.memory import SUMMARIES

DECODERS = ("coattend", "coground")
STEPS = ("template", "sentence", "whole")
CONTEXTS = ("joined", "mlp")


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """An agent's network and how it takes its instruction."""

    steps: str = "template"  # how an instruction is cut; "whole" reads it at once, as SEQ2SEQ does
    step_size: int = 0  # neighbouring steps are joined into ones of about so many characters; 0: they are not
    memory: str = "forgetting"
    gamma: float = 0.5  # of the forgetting memory
    # g of equation 1: "mlp" is one before the action predictor, as in the paper's text; "joined" lets the
    # predictor's own MLP read the summaries, as its authors' release does.
    context: str = "joined"
    decoder: str = "coattend"
    hidden: int = 512
    action: int = 256  # numbers of an embedded action
    words: int = 300  # numbers per word where no word vectors were imported
    dropout: float = 0.5
    feature_dropout: float = 0.0  # of view features, channel-wise and the same for a whole walk
    history_dropout: float = 0.0  # of all that is remembered: the share of walks that are learned without it
    feature_gain: float = 1.0  # times view features: those of objects are faint beside directions
    likeness: int = 0  # numbers of a code by which words and named features are compared; 0 for no such score
    max_moves: int = 10  # per step
    max_words: int = 100  # per step

    @property
    def cut(self) -> IdentificationConfig:
        """How the agent cuts an instruction."""
        return IdentificationConfig(mode=self.steps, size=self.step_size)

    def __post_init__(self) -> None:
        for field, value, known in (
            ("steps", self.steps, STEPS),
            ("memory", self.memory, SUMMARIES),
            ("context", self.context, CONTEXTS),
            ("decoder", self.decoder, DECODERS),
        ):
            if value not in known:
                raise unknown(field, value, known)
        check_at_least_one(self, "hidden", "action", "words", "max_moves", "max_words")
        check_non_negative(self, "gamma", "likeness")
        check_positive(self, "feature_gain")
        check_fraction_below_one(self, "dropout", "feature_dropout", "history_dropout")
        if self.hidden % 2:
            raise ConfigError(
                f"hidden = {self.hidden} cannot be halved for two directions; give an even number."
            )
        if self.step_size < 0:
            raise ConfigError(
                f"step_size = {self.step_size} is no number of characters; give 0 for any size, or more."
            )
