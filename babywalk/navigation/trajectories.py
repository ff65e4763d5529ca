"""What every agent is: something that walks the episodes of a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from babywalk.common.ragged import Ragged
from babywalk.episodes.task import Task
from babywalk.instructions.babysteps import BabySteps
from babywalk.navigation.world import Poses

Index = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Trajectories:
    """Where walkers went and what they faced on the way. Shapes: B walkers."""

    viewpoints: Ragged  # B rows, none empty, the start first
    views: Ragged  # B rows of the same lengths: the view faced on arrival

    def __len__(self) -> int:
        return len(self.viewpoints)


class Agent(Protocol):
    """Walks episodes. What it may look at is its own affair: an oracle looks at the goal, others must not."""

    def walk(self, task: Task, episodes: Index) -> Trajectories:
        """One trajectory per episode, each from the episode's start."""
        ...


@runtime_checkable
class StepAgent(Protocol):
    """An agent that remembers: it can take up an instruction in the middle, given what lies behind."""

    def walk_steps(self, steps: BabySteps, episodes: Index, numbers: Index) -> Trajectories:
        """One aligned step of each episode, with the expert's history, from where the expert began it."""
        ...


class TrajectoryRecorder:
    """Collects the poses of walkers step by step; who has stopped is no longer written down."""

    def __init__(self, start: Poses) -> None:
        self._viewpoints = [np.asarray(start.viewpoint)]
        self._views = [np.asarray(start.view)]
        self._moved = [np.ones(len(self._viewpoints[0]), dtype=bool)]

    def note(self, poses: Poses, moved: NDArray[np.bool_]) -> None:
        """Write down the poses of those who moved."""
        self._viewpoints.append(np.asarray(poses.viewpoint))
        self._views.append(np.asarray(poses.view))
        self._moved.append(np.asarray(moved))

    def trajectories(self) -> Trajectories:
        """What was written, walker by walker."""
        moved = np.stack(self._moved, axis=1)
        start = np.concatenate([[0], moved.sum(axis=1).cumsum()])
        rows = [
            np.stack(column, axis=1)[moved].astype(np.int32) for column in (self._viewpoints, self._views)
        ]
        return Trajectories(Ragged(rows[0], start), Ragged(rows[1], start))
