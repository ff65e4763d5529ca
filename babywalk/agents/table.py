"""The agents that can be trained, by name: the rows of the paper's table."""

from __future__ import annotations

from babywalk.agents.babywalk import BABYWALK, BABYWALK_PLUS
from babywalk.agents.definition import AgentDefinition
from babywalk.agents.fast import FAST
from babywalk.agents.rcm import RCM_FIDELITY, RCM_GOAL
from babywalk.agents.regretful import REGRETFUL
from babywalk.agents.seq2seq import SEQ2SEQ
from babywalk.agents.speaker_follower import SPEAKER_FOLLOWER

AGENTS: dict[str, AgentDefinition] = {
    "seq2seq": SEQ2SEQ,
    "speaker-follower": SPEAKER_FOLLOWER,
    "rcm-goal": RCM_GOAL,
    "rcm-fidelity": RCM_FIDELITY,
    "regretful": REGRETFUL,
    "fast": FAST,
    "babywalk": BABYWALK,
    "babywalk-plus": BABYWALK_PLUS,
}
