"""REGRETFUL (Ma et al. 2019b): progress estimation, and the regret to turn back when progress falls.

Paper: https://arxiv.org/abs/1903.01602. It extends the self-monitoring agent (Ma et al. 2019),
https://arxiv.org/abs/1901.03035

The co-grounding decoder attends to words and candidates with its last state (`modules/decoder.py`). A
progress monitor estimates the share of the way that is done (`modules/progress_monitor.py`). The regret
module mixes the wanted action with the one that leads back, by the change of that estimate; the progress
marker shows the progress at each visited neighbour (`modules/regretful.py`).

Training: imitation on augmented data, then on human instructions; cross-entropy of the actions plus the
squared error of the estimate, in equal parts. The target is (d_0 - d_t) / d_0, and 1 within 3 m of the goal.

Decoding: greedy; an action that leads back to where the agent has just turned back from is blocked. Progress
inference is `--decode beam:size=5,by=progress`.

Differences from its paper
- Layer norm instead of batch norm over candidates: a score must not depend on the rest of the batch.
- The progress monitor reads the attention over 32 parts of the instruction, not over 80 padded words, so that
  it is defined for instructions of any length.
- The estimate is limited to [-1, 1], and so is its target.
- The presets `small` and `objects` mix teacher forcing and student forcing.
"""

from __future__ import annotations

from babywalk.agents.definition import AgentDefinition
from babywalk.decoding.decoders import Greedy
from babywalk.modules.network import Network
from babywalk.training.imitation import augmented_stages, imitation_stages

REGRETFUL = AgentDefinition(
    name="regretful",
    summary="REGRETFUL+: co-grounding, a progress monitor, and a module that learns to turn back.",
    citation="Ma et al. 2019, https://arxiv.org/abs/1903.01602",
    network=Network,
    settings={"policy": {"steps": "whole", "memory": "none", "decoder": "regretful"}},
    stages=(augmented_stages, imitation_stages),
    decoder=Greedy(),
)
