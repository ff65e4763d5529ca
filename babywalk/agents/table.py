"""The agents that can be trained, by name."""

from __future__ import annotations

from babywalk.agents.babywalk import BABYWALK
from babywalk.agents.definition import AgentDefinition
from babywalk.agents.seq2seq import SEQ2SEQ

AGENTS: dict[str, AgentDefinition] = {
    "babywalk": BABYWALK,
    "seq2seq": SEQ2SEQ,
}
