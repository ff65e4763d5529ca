"""The walks of agents for the page: paths, Baby-Steps and decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from babywalk.agents.agent import Agent
from babywalk.episodes.task import Task
from babywalk.evaluation.evaluate import walk_all
from babywalk.instructions.babysteps import BabySteps
from babywalk.navigation.trajectories import Trajectories

# One decision as JSON: [Baby-Step, viewpoint, choices, weights of words, weights of views]. Choices
# are [viewpoint or -1 for STOP, per mille]; weights are in percent.
Decisions = list[list[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Walks:
    """The walks of one agent in all episodes of a task."""

    trajectories: Trajectories
    steps: BabySteps | None = None  # as the agent reads the instructions, if it does
    decisions: Sequence[Decisions] | None = None  # of each episode, if they were recorded


class Walker(Protocol):
    """Somebody whose walks the page shows."""

    @property
    def name(self) -> str:
        """The label."""
        ...

    def walk(self, task: Task) -> Walks:
        """The walks in all episodes of a task."""
        ...


@dataclass(frozen=True, slots=True)
class AgentWalker:
    """An agent whose decisions are not recorded."""

    name: str
    agent: Agent

    def walk(self, task: Task) -> Walks:
        """The walks in all episodes of a task."""
        return Walks(walk_all(self.agent, task))


@dataclass(frozen=True, slots=True, eq=False)
class FileWalker:
    """The trajectories of a result file, which belong to one task."""

    name: str
    file: Path
    task: Task  # of the file
    trajectories: Trajectories  # of all its episodes

    def answers(self, task: Task) -> bool:
        """Whether the file answers the episodes of a task."""
        return (task.name, task.split) == (self.task.name, self.task.split)

    def walk(self, task: Task) -> Walks:
        """The walks in a sample of the episodes of the file's task."""
        rows = np.searchsorted(
            self.task.full_indices(np.arange(len(self.task))), task.full_indices(np.arange(len(task)))
        )
        found = self.trajectories
        return Walks(Trajectories(found.viewpoints.take(rows), found.views.take(rows)))
