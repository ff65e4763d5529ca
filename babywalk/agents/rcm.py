"""RCM (Wang et al. 2019): the follower of SPEAKER-FOLLOWER, refined by reinforcement learning.

Paper: https://arxiv.org/abs/1811.10092. The reward for fidelity is of Jain et al. 2019,
https://arxiv.org/abs/1905.12255

Training: the stages of SPEAKER-FOLLOWER, then policy gradient on whole instructions. The reward is one of
- goal: the metres by which each move approaches the goal, and 1 for success;
- fidelity: SR + CLS at the end;
to which `reinforce.cycle` adds the intrinsic reward: the speaker's log-probability per word of the
instruction, given the walk. Rewards are discounted by 0.95 per decision.

Differences from its paper
- The network is that of the follower, with attention to words after the LSTM, as BabyWalk compares it.
- No critic network. From the return of a decision are subtracted the metres that are left to the goal and
  the baseline `reinforce.baseline`; the preset `small` uses the mean of the rollouts of an instruction.
- The intrinsic reward is the log-probability per word instead of the probability, and off by default.
- No self-supervised imitation in unseen houses: it would train on the houses of evaluation.
- The presets `small` and `objects` add a small imitation loss (`reinforce.imitation`).
"""

from __future__ import annotations

from dataclasses import replace

from babywalk.agents.definition import AgentDefinition
from babywalk.decoding.decoders import Greedy
from babywalk.modules.network import Network
from babywalk.training.imitation import augmented_stages, imitation_stages
from babywalk.training.reinforcement import reinforcement_stages

RCM_GOAL = AgentDefinition(
    name="rcm-goal",
    summary="RCM(goal)+: SPEAKER-FOLLOWER, then reinforcement learning to reach the goal.",
    citation="Wang et al. 2019, https://arxiv.org/abs/1811.10092",
    network=Network,
    settings={
        "policy": {"steps": "whole", "memory": "none"},
        "reinforce": {"whole": True, "reward": "goal"},
    },
    stages=(augmented_stages, imitation_stages, reinforcement_stages),
    decoder=Greedy(),
)
RCM_FIDELITY = replace(
    RCM_GOAL,
    name="rcm-fidelity",
    summary="RCM(fidelity)+: SPEAKER-FOLLOWER, then reinforcement learning to follow the path.",
    settings={
        "policy": {"steps": "whole", "memory": "none"},
        "reinforce": {"whole": True, "reward": "fidelity"},
    },
)
