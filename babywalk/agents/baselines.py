"""Agents without learning: the lower and upper bounds of every table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.agents.agent import Agent, Index
from babywalk.buildings.panorama import COLUMNS, STEP
from babywalk.common.errors import ConfigError
from babywalk.common.seeding import generator
from babywalk.episodes.task import Task
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.trajectories import Trajectories, TrajectoryRecorder
from babywalk.navigation.world import STOP, Poses, World, start_poses

_FORWARD_MOVES = 5
_CONE = np.radians(40)
_MAX_ACTIONS = 30


@dataclass(frozen=True)
class StopAgent:
    """Never moves."""

    def walk(self, task: Task, episodes: Index) -> Trajectories:
        """Trajectories of one viewpoint, the start."""
        return TrajectoryRecorder(start_poses(task, episodes)).trajectories()


@dataclass(frozen=True)
class OracleAgent:
    """Knows the goal and walks the shortest path to it."""

    def walk(self, task: Task, episodes: Index) -> Trajectories:
        """Shortest paths to the goals."""
        if not task.walks.has_goals:
            raise ConfigError(f"The 'oracle' agent needs goals; {task.split} has none.")
        world, teacher = World.of(task.houses), Teacher.of(task.houses)
        goals = task.paths.lasts[task.chain_of(episodes)]
        poses = start_poses(task, episodes)
        recorder = TrajectoryRecorder(poses)
        while (moves := (action := teacher.towards(poses.viewpoint, goals)) != STOP).any():
            poses = world.step(poses, action)
            recorder.record(poses, moves)
        return recorder.trajectories()


@dataclass(frozen=True)
class RandomAgent:
    """Turns to a random heading and moves forward five times (Anderson et al. 2018).

    0 to 11 right turns of 30 degrees, then five moves, each to the neighbour nearest to the heading and
    within 40 degrees of it. Moves keep the heading. If there is no such neighbour, the agent turns right. It
    takes at most 30 actions.
    """

    seed: int = 0

    def walk(self, task: Task, episodes: Index) -> Trajectories:
        """Random trajectories; that of an episode depends on the seed and the episode alone."""
        draws = generator(self.seed, "random agent", task.name, task.split).integers(
            COLUMNS, size=task.full_size
        )
        turns = draws[task.full_indices(episodes)]
        poses = start_poses(task, episodes)
        poses = Poses(poses.viewpoint, (poses.column + turns) % COLUMNS + COLUMNS)
        world = World.of(task.houses)
        ahead = _neighbours_ahead(world)
        recorder = TrajectoryRecorder(poses)
        actions, moves = turns.copy(), np.zeros(len(turns), dtype=np.int64)
        while (active := (moves < _FORWARD_MOVES) & (actions < _MAX_ACTIONS)).any():
            target = ahead[poses.viewpoint, poses.column]
            forward, turn = active & (target >= 0), active & (target < 0)
            poses = Poses(
                np.where(forward, target, poses.viewpoint),
                np.where(turn, (poses.column + 1) % COLUMNS + COLUMNS, poses.view),
            )
            recorder.record(poses, forward)
            moves += forward
            actions += active
        return recorder.trajectories()


def _neighbours_ahead(world: World) -> NDArray[np.int64]:
    """(N, 12) the neighbour nearest to each heading; -1 if none is within 40 degrees."""
    sine, cosine = world.bearing[..., 0], world.bearing[..., 1]
    column = np.arange(COLUMNS) * STEP
    # (N, A, 12) angle between each neighbour and each heading
    angle = np.abs(np.angle((cosine + 1j * sine)[..., None] * np.exp(-1j * column)))
    angle[~world.possible | (np.arange(world.actions) == STOP)] = np.inf
    best = angle.argmin(axis=1)
    inside = np.take_along_axis(angle, best[:, None], axis=1)[:, 0] <= _CONE
    return np.where(inside, np.take_along_axis(world.target, best, axis=1), -1)


# Each is made from a seed, which only the random agent uses.
BASELINES: dict[str, Callable[[int], Agent]] = {
    "stop": lambda _: StopAgent(),
    "random": RandomAgent,
    "oracle": lambda _: OracleAgent(),
}
