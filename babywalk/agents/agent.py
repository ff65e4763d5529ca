"""The interfaces of an agent."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from babywalk.episodes.task import Task
from babywalk.instructions.babysteps import BabySteps
from babywalk.navigation.trajectories import Trajectories

Index = NDArray[np.integer[Any]]


class Agent(Protocol):
    """Walks the episodes of a task. The oracle reads the goal of an episode, other agents must not."""

    def walk(self, task: Task, episodes: Index) -> Trajectories:
        """One trajectory per episode, each from the episode's start."""
        ...


@runtime_checkable
class DecodingAgent(Protocol):
    """An agent that scores actions, and whose trajectories depend on how they are decoded."""

    @property
    def decoding(self) -> str:
        """The decoder and its settings, as in "frontier:candidates=20"."""
        ...

    @property
    def known_map(self) -> bool:
        """Whether it searches with the graph of the house."""
        ...


@runtime_checkable
class StepAgent(Protocol):
    """An agent with a memory: it can start at any Baby-Step, given the expert's history before it."""

    def walk_steps(self, steps: BabySteps, episodes: Index, numbers: Index) -> Trajectories:
        """One aligned Baby-Step per episode, from where the expert began it and with the expert's history."""
        ...
