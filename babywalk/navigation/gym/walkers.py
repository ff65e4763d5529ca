"""The state of a batch of episodes, and one step of it. A single environment is a batch of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from babywalk.common.errors import ConfigError
from babywalk.common.ragged import Integers, Ragged
from babywalk.navigation.gym.data import EnvData
from babywalk.navigation.gym.rendering import Snapshot, render
from babywalk.navigation.measures import MEASURES, Pairs
from babywalk.navigation.rewards import Floats, step_rewards
from babywalk.navigation.trajectories import TrajectoryRecorder
from babywalk.navigation.world import STOP, poses_at, start_poses

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class EnvStep:
    """The result of one step. Shapes: B walkers, zero or False for those that did not step."""

    rewards: Floats  # (B,)
    terminated: Flags  # (B,) True where the walker chose STOP
    truncated: Flags  # (B,) True where the walker used its last step and did not choose STOP
    measures: dict[str, Floats]  # (B,) each of MEASURES, zero unless the episode ended; empty without goals

    @property
    def ended(self) -> Flags:
        """(B,) True where the episode ended."""
        return self.terminated | self.truncated


class Walkers:
    """B episodes in progress; each step or start is of any K of them. Returned arrays are not changed later.

    Shapes: B walkers, K of them, R viewpoints of the longest reference, A actions, L words.
    """

    def __init__(self, data: EnvData, count: int) -> None:
        if count < 1:
            raise ConfigError(f"num_envs = {count} is out of range; expected 1 or more.")
        self.data = data
        self.episode = np.zeros(count, dtype=np.int64)  # (B,)
        self.steps = np.zeros(count, dtype=np.int64)  # (B,) taken so far
        self.poses = poses_at(np.zeros(count), np.zeros(count))
        self.started: Flags = np.zeros(count, dtype=bool)  # (B,) True where an episode was started
        # Standing still is not recorded: a repeated viewpoint would lower nDTW.
        self._recorder = TrajectoryRecorder(self.poses, capacity=data.config.steps + 1)
        self._reference = np.zeros((count, data.task.paths.lengths.max(initial=1)), dtype=np.int64)  # (B, R)
        self._reference_length = np.ones(count, dtype=np.int64)  # (B,) viewpoints of each reference
        self._reached = np.zeros(count, dtype=np.int64)  # (B,) index of the last reference viewpoint reached
        self._teacher_action = np.zeros(count, dtype=np.int64)  # (B,)
        self._tokens = np.zeros((count, data.config.words), dtype=np.int32)  # (B, L)
        self._length = np.zeros(count, dtype=np.int64)  # (B,)
        self._instruction = np.full(count, "", dtype=object)  # (B,)
        self._id = np.full(count, "", dtype=object)  # (B,)

    def __len__(self) -> int:
        return len(self.episode)

    @property
    def distance(self) -> NDArray[np.float64]:
        """(B,) metres to the goal."""
        goal = self._reference[np.arange(len(self)), self._reference_length - 1]
        return self.data.houses.distance(self.poses.viewpoint, goal)

    def start(self, rows: Integers, episodes: Integers) -> None:
        """Put K walkers at the start of K episodes."""
        if not len(rows):
            return
        task = self.data.task
        references = self._references(episodes)
        padded = references.padded(fill=0)
        poses = start_poses(task, episodes)
        self.episode[rows], self.steps[rows], self.started[rows] = episodes, 0, True
        self.poses.viewpoint[rows], self.poses.view[rows] = poses.viewpoint, poses.view
        self._recorder.restart(rows, poses)
        self._reference[rows, : padded.shape[1]], self._reference_length[rows] = padded, references.lengths
        self._tokens[rows], self._length[rows] = self.data.words(episodes)
        self._instruction[rows] = task.instructions(episodes)
        self._id[rows] = task.ids(episodes)
        self._reached[rows] = 0
        self._update_teacher(rows)

    def step(self, rows: Integers, actions: Integers) -> EnvStep:
        """One action of K walkers; an impossible action changes nothing but the number of steps."""
        self._check(actions)
        before = self.distance
        poses = self.data.world.step(self.poses[rows], actions)
        self._recorder.record(poses, poses.viewpoint != self.poses.viewpoint[rows], rows)
        self.poses.viewpoint[rows], self.poses.view[rows] = poses.viewpoint, poses.view
        self.steps[rows] += 1
        self._update_teacher(rows)
        terminated, truncated = np.zeros((2, len(self)), dtype=bool)
        terminated[rows] = actions == STOP
        truncated[rows] = (self.steps[rows] >= self.data.config.steps) & (actions != STOP)
        measures = self._measures(np.flatnonzero(terminated | truncated))
        rewards: Floats = np.zeros(len(self))
        if measures:
            rewards = step_rewards(self.data.config.reward, before - self.distance, terminated, measures)
        return EnvStep(rewards, terminated, truncated, measures)

    def observe(self) -> dict[str, Any]:
        """The observation of each walker, keyed as the observation space."""
        return {
            "views": self.data.observer.views(self.poses),
            "candidates": self.data.observer.candidates(self.poses),
            "mask": self._mask(),
            "tokens": self._tokens.copy(),
            "length": self._length.copy(),
            "instruction": tuple(self._instruction.tolist()),
        }

    def info(self) -> dict[str, NDArray[Any]]:
        """(B,) and (B, A) the info of each walker; a policy must not use it, except for the mask."""
        info: dict[str, NDArray[Any]] = {
            "action_mask": self._mask(),
            "id": self._id.copy(),
            "viewpoint": self.data.viewpoint_ids[self.poses.viewpoint],
        }
        if self.data.teacher is not None:
            info["teacher_action"] = self._teacher_action.copy()
            info["distance"] = self.distance
        return info

    def action_masks(self) -> Flags:
        """(B, A) True where an action is possible."""
        self._check_started("no episode in progress", "action_masks")
        possible: Flags = self.data.world.possible[self.poses.viewpoint]
        return possible

    def render(self, mode: str, row: int) -> str | NDArray[np.uint8]:
        """One walker as `rendering.render` shows it."""
        self._check_started("nothing to render yet", "render")
        chosen = np.array([row])
        reference = self._reference[row, : self._reference_length[row]]
        shown = Snapshot(
            episode=self.data.task[int(self.episode[row])],
            pose=self.poses[chosen],
            trajectory=self._recorder.trajectories(chosen).viewpoints[0],
            reference=None if self.data.teacher is None else reference,
            steps=int(self.steps[row]),
            max_steps=self.data.config.steps,
        )
        return render(mode, self.data.world, self.data.houses, shown)

    def _references(self, episodes: Integers) -> Ragged:
        return self.data.task.paths.take(self.data.task.chain_of(episodes))

    def _mask(self) -> NDArray[np.int8]:
        """(B, A) 1 where an action is possible, as Gymnasium's `sample(mask)` expects it."""
        mask: NDArray[np.int8] = self.data.world.possible[self.poses.viewpoint].astype(np.int8)
        return mask

    def _update_teacher(self, rows: Integers) -> None:
        """The teacher's action at the new poses; once per step, since it advances `_reached`."""
        if self.data.teacher is not None:
            self._teacher_action[rows], self._reached[rows] = self.data.teacher.along(
                self.poses.viewpoint[rows],
                self._reference[rows],
                self._reference_length[rows],
                self._reached[rows],
            )

    def _measures(self, ended: Integers) -> dict[str, Floats]:
        """(B,) every measure, zero except for the walkers whose episode ended."""
        if self.data.teacher is None:
            return {}
        table = np.zeros((len(MEASURES), len(self)))
        if len(ended):
            trajectories = self._recorder.trajectories(ended).viewpoints
            pairs = Pairs.of(self.data.houses, trajectories, self._references(self.episode[ended]))
            for column, measure in zip(table, MEASURES.values(), strict=True):
                column[ended] = measure(pairs)
        return dict(zip(MEASURES, table, strict=True))

    def _check(self, actions: Integers) -> None:
        wrong = actions[(actions < 0) | (actions >= self.data.world.actions)]
        if len(wrong):
            raise ConfigError(
                f"Action {wrong[0]} is out of range; "
                f"expected an integer from 0 (STOP) to {self.data.world.actions - 1}."
            )

    def _check_started(self, what: str, method: str) -> None:
        if not self.started.all():
            raise ResetNeeded(f"There is {what}. Call reset() before {method}().")
