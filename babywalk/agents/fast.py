"""FAST (Ke et al. 2019): frontier search with backtracking over the self-monitoring agent.

Paper: https://arxiv.org/abs/1903.02547

The network is the self-monitoring agent (Ma et al. 2019): co-grounding and a progress monitor. Search keeps a
queue of partial paths with their states, expands the one with the highest sum of logits, and walks back where
it has to (`decoding/`). Walking back counts in path length and in every measure. `--decode` runs the same
search over any other agent.

Training: imitation on augmented data, then on human instructions; cross-entropy of the actions plus the
squared error of the estimated progress, in equal parts.

Differences from its paper
- Layer norm instead of batch norm, and the attention over parts of the instruction, as in `regretful.py`.
- The default is the short variant, which stops when STOP is taken from the queue. The full one, with
  re-ranking of complete paths, is `--decode frontier:short=false`.
- The presets `small` and `objects` mix teacher forcing and student forcing.
"""

from __future__ import annotations

from babywalk.agents.definition import AgentDefinition
from babywalk.decoding.best_first import Frontier
from babywalk.modules.network import Network
from babywalk.training.imitation import augmented_stages, imitation_stages

FAST = AgentDefinition(
    name="fast",
    summary="FAST+: the self-monitoring agent with frontier search, which walks back where it has to.",
    citation="Ke et al. 2019, https://arxiv.org/abs/1903.02547",
    network=Network,
    settings={
        "policy": {"steps": "whole", "memory": "none", "decoder": "coground", "progress_monitor": True}
    },
    stages=(augmented_stages, imitation_stages),
    decoder=Frontier(short=True),
)
