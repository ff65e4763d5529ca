"""BABYWALK and BABYWALK+ (Zhu et al. 2020): follow an instruction as a sequence of Baby-Steps, with a memory.

Paper: https://arxiv.org/abs/2005.04625

BABYWALK+ learns from augmented data first: paths in training houses that a speaker described.

The instruction is segmented into Baby-Steps by its text alone (`instructions/`). The agent walks them one by
one. Before each step, a summary of the instructions and trajectories so far (`modules/memory.py`, equations 1
to 4) becomes the context of the policy (`modules/network.py`); after it, the step is encoded and added to the
memory.

Training: imitation of single Baby-Steps after the expert's history (section 4.2.1), then reinforcement
learning on a curriculum: in lecture k the agent walks the last k Baby-Steps, and the reward SR + CLS is that
of the whole path (section 4.2.2). Each stage starts from the best model of the one before.

Differences from the paper
- The preset `paper` has the published sizes, and follows the authors' release where the paper is silent
  (`PolicyConfig.details`, `ReinforceConfig.baseline`, `clip_apart`). It still differs from the release in
  these points: L2-normalised vectors are rescaled by sqrt(D), without which the next layer learns many times
  more slowly; past instructions are read in the same direction as current ones, since the paper says that the
  encoder is the same; the linear layers on the summaries have no bias, so that an empty memory stays zero;
  four lectures, as in the paper (the release runs five); long instructions lose their end, not their start.
- The presets `small` and `objects` have a smaller network, another optimiser schedule, averaged weights and a
  baseline per instruction; their action predictor's MLP reads the summaries directly (`context = "joined"`).
"""

from __future__ import annotations

from babywalk.agents.definition import AgentDefinition
from babywalk.decoding.decoders import Greedy
from babywalk.modules.network import Network
from babywalk.training.imitation import augmented_stages, imitation_stages
from babywalk.training.reinforcement import reinforcement_stages

BABYWALK = AgentDefinition(
    name="babywalk",
    summary="Baby-Steps with a memory: imitation, then reinforcement learning on a curriculum of lectures.",
    citation="Zhu et al. 2020, https://arxiv.org/abs/2005.04625",
    network=Network,
    stages=(imitation_stages, reinforcement_stages),
    decoder=Greedy(),
)

BABYWALK_PLUS = AgentDefinition(
    name="babywalk-plus",
    summary="BABYWALK, trained on augmented data first: instructions by a speaker model.",
    citation="Zhu et al. 2020, https://arxiv.org/abs/2005.04625",
    network=Network,
    stages=(augmented_stages, imitation_stages, reinforcement_stages),
    decoder=Greedy(),
)
