"""List the agents."""

from __future__ import annotations

from dataclasses import dataclass

import babywalk.common.needs_torch  # noqa: F401
from babywalk.agents.table import AGENTS

_BASELINES = {
    "stop": ("Never moves.", ""),
    "random": (
        "A random heading, then five moves forward.",
        "Anderson et al. 2018, https://arxiv.org/abs/1711.07280",
    ),
    "oracle": ("Knows the goal and takes the shortest path to it.", ""),
}


@dataclass(frozen=True, slots=True)
class AgentSummary:
    """An agent in the list of agents."""

    name: str
    summary: str
    citation: str
    learned: bool


def list_agents() -> list[AgentSummary]:
    """The agents that can be trained, then the baselines."""
    learned = [AgentSummary(agent.name, agent.summary, agent.citation, True) for agent in AGENTS.values()]
    return learned + [AgentSummary(name, *text, False) for name, text in _BASELINES.items()]
