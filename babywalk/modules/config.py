"""The settings of an agent's network."""

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

DECODERS = ("coattend", "coground", "regretful")
STEPS = ("template", "sentence", "whole")
CONTEXTS = ("joined", "mlp")
DETAILS = ("ours", "release")


@dataclass(frozen=True, slots=True)
class PolicyConfig:
    """An agent's network and how it segments its instruction."""

    steps: str = "template"  # how an instruction is segmented; "whole": not at all, as in SEQ2SEQ
    step_size: int = 0  # join neighbouring steps up to about so many characters; 0: do not join
    memory: str = "forgetting"
    gamma: float = 0.5  # of the forgetting memory
    # g of equation 1. "mlp": an MLP of its own, as in the paper's text; "joined": the action predictor's MLP
    # reads the summaries, as in the authors' release.
    context: str = "joined"
    decoder: str = "coattend"
    progress_monitor: bool = False  # estimates progress, as in self-monitoring agents; always in "regretful"
    # What the paper leaves open. "release", as in its authors' code: the decoder's first cell is the last one
    # of the encoder; view attention compares projections of size 256; linear layers on the summaries; no
    # dropout on frozen word vectors and inside the action MLP.
    details: str = "ours"
    hidden: int = 512
    action: int = 256  # size of an embedded action
    words: int = 300  # size of word vectors where none were imported
    dropout: float = 0.5
    feature_dropout: float = 0.0  # of view features, by channel, the same for a whole trajectory
    history_dropout: float = 0.0  # of the whole history, by walker
    feature_gain: float = 1.0  # factor of the view features
    lexical_match: int = 0  # size of a code that compares words with named features; 0 for no such score
    max_moves: int = 10  # per step
    max_words: int = 100  # per step

    @property
    def segmentation(self) -> IdentificationConfig:
        """How the agent segments an instruction."""
        return IdentificationConfig(mode=self.steps, size=self.step_size)

    def __post_init__(self) -> None:
        for field, value, known in (
            ("steps", self.steps, STEPS),
            ("memory", self.memory, SUMMARIES),
            ("context", self.context, CONTEXTS),
            ("decoder", self.decoder, DECODERS),
            ("details", self.details, DETAILS),
        ):
            if value not in known:
                raise unknown(field, value, known)
        check_at_least_one(self, "hidden", "action", "words", "max_moves", "max_words")
        check_non_negative(self, "gamma", "lexical_match")
        check_positive(self, "feature_gain")
        check_fraction_below_one(self, "dropout", "feature_dropout", "history_dropout")
        if self.progress_monitor and self.decoder == "coattend":
            raise ConfigError(
                "progress_monitor reads the attention of co-grounding. Set decoder to coground or regretful."
            )
        if self.hidden % 2:
            raise ConfigError(
                f"hidden = {self.hidden} cannot be halved for two directions; give an even number."
            )
        if self.step_size < 0:
            raise ConfigError(
                f"step_size = {self.step_size} is negative; give 0 not to join steps, or some characters."
            )
