"""What defines an agent that learns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from babywalk.decoding.decoders import Decoder
from babywalk.modules.network import Network
from babywalk.training.stage import Stage, TrainingSetup


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """A row of the paper's table: its network, its stages of training, and how it decodes."""

    name: str  # on the command line and in recipes
    summary: str  # one line
    citation: str
    stages: tuple[Callable[[TrainingSetup], list[Stage]], ...]  # run in this order
    decoder: Decoder
    network: type[Network] = Network
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the configuration, over those of a preset

    def training_stages(self, setup: TrainingSetup) -> list[Stage]:
        """All stages of a run."""
        return [stage for stages in self.stages for stage in stages(setup)]
