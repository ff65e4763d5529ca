"""SEQ2SEQ (Fried et al. 2018): read the whole instruction at once, with panoramic actions.

Paper: https://arxiv.org/abs/1806.02724 (the follower); the task and the first Seq2Seq agent are of Anderson
et al. 2018, https://arxiv.org/abs/1711.07280

The network of BABYWALK with the whole instruction as one step and no memory: text encoder, attention over the
36 views, decoder LSTM on the previous action and the attended view, attention over words, a score per
candidate.

Training: imitation with student forcing towards the goal. With `reinforce.whole = true`, plain reinforcement
learning follows.

Differences from its paper
- Up to 10 moves and 100 words per joined path of the task (BabyWalk, appendix B), truncated beyond.
- The presets `small` and `objects` mix teacher forcing and student forcing.
"""

from __future__ import annotations

from babywalk.agents.definition import AgentDefinition
from babywalk.decoding.decoders import Greedy
from babywalk.modules.network import Network
from babywalk.training.imitation import imitation_stages
from babywalk.training.reinforcement import reinforcement_stages

SEQ2SEQ = AgentDefinition(
    name="seq2seq",
    summary="The whole instruction at once, without a memory: imitation with student forcing.",
    citation="Fried et al. 2018, https://arxiv.org/abs/1806.02724",
    network=Network,
    settings={
        "policy": {"steps": "whole", "memory": "none"},
        "reinforce": {"lectures": 0},
    },
    stages=(imitation_stages, reinforcement_stages),
    decoder=Greedy(),
)
