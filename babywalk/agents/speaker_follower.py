"""SPEAKER-FOLLOWER (Fried et al. 2018): a follower trained on instructions that a speaker wrote.

Paper: https://arxiv.org/abs/1806.02724

A speaker (`modules/speaker.py`) learns to describe paths. It describes sampled paths of the training houses
(`babywalk data augment`), and the follower learns from them. The follower is the network of SEQ2SEQ: text
encoder, attention over the 36 views, decoder LSTM, attention over words, a score per candidate.

Training: imitation on the augmented data mixed with human instructions, then on human instructions alone.
Both are student forcing towards the goal.

Decoding: greedy, as in the tables of BabyWalk. Pragmatic inference is `--decode pragmatic`: candidates from
state-factored search, re-ranked by lambda log P_S / sigma_S + (1 - lambda) log P_F / sigma_F.

Differences from its paper
- Batches alternate between augmented and human data (`augmented.mix`), whatever their sizes.
- The speaker's encoder is bidirectional (Tan et al. 2019).
- Up to 10 moves and 100 words per joined path of the task (BabyWalk, appendix B), truncated beyond.
- The presets `small` and `objects` mix teacher forcing and student forcing.
"""

from __future__ import annotations

from babywalk.agents.definition import AgentDefinition
from babywalk.decoding.decoders import Greedy
from babywalk.modules.network import Network
from babywalk.training.imitation import augmented_stages, imitation_stages

SPEAKER_FOLLOWER = AgentDefinition(
    name="speaker-follower",
    summary="SF+: the follower of SEQ2SEQ, trained on instructions by a speaker model first.",
    citation="Fried et al. 2018, https://arxiv.org/abs/1806.02724",
    network=Network,
    settings={"policy": {"steps": "whole", "memory": "none"}},
    stages=(augmented_stages, imitation_stages),
    decoder=Greedy(),
)
