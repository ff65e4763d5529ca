"""A batch of walkers as a Gymnasium vector environment."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from gymnasium import Space
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from babywalk.common.errors import ConfigError
from babywalk.navigation.gym.data import EnvConfig, EnvData, EpisodeSampler
from babywalk.navigation.gym.rendering import RENDERING, check_render_mode
from babywalk.navigation.gym.spaces import action_space, observation_space
from babywalk.navigation.gym.walkers import Flags, Walkers


class WalkVectorEnv(VectorEnv[dict[str, Any], NDArray[np.int64], NDArray[Any]]):
    """B walkers, each as in `WalkEnv`, stepped together. The keywords are the fields of `EnvConfig`.

    After the end of an episode, the next step ignores the walker's action, starts another episode and has
    reward 0 (AutoresetMode.NEXT_STEP). All walkers draw from one shuffled order, so that no episode is
    repeated before every episode has been started.
    """

    metadata = RENDERING | {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, *, num_envs: int = 1, render_mode: str | None = None, **keywords: Any) -> None:
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.num_envs = num_envs
        self.data = EnvData.of(EnvConfig.of(keywords))
        self._walkers = Walkers(self.data, num_envs)
        self._sampler = EpisodeSampler(self.data)
        self._ended: Flags = np.zeros(num_envs, dtype=bool)  # (B,) True where the last step ended the episode
        self.single_observation_space = observation_space(self.data)
        self.single_action_space = action_space(self.data)
        self.action_space = batch_space(self.single_action_space, num_envs)

    @cached_property
    def observation_space(self) -> Space[dict[str, Any]]:  # type: ignore[override]  # it is writable there
        """B times the space of one walker; made on first use: its bounds take more memory than a step."""
        return batch_space(self.single_observation_space, self.num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start B episodes: the next of the shuffled order, or those of `options["episode"]`."""
        super().reset(seed=seed)
        episodes = self._sampler.reset(self.num_envs, self.np_random, seed=seed, options=options)
        self._walkers.start(np.arange(self.num_envs), episodes)
        self._ended = np.zeros(self.num_envs, dtype=bool)
        return self._walkers.observe(), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[dict[str, Any], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Take one action each, or start another episode where the last one has ended."""
        if not self._walkers.started.all():
            raise ResetNeeded("There are no episodes in progress. Call reset() before step().")
        given = np.asarray(actions, dtype=np.int64)
        if given.shape != (self.num_envs,):
            raise ConfigError(f"The actions have the shape {given.shape}; expected ({self.num_envs},).")
        ended, going = np.flatnonzero(self._ended), np.flatnonzero(~self._ended)
        self._walkers.start(ended, self._sampler.take(len(ended), self.np_random))
        step = self._walkers.step(going, given[going])
        self._ended = step.ended
        infos = self._infos()
        if step.measures and step.ended.any():
            infos["measures"], infos["_measures"] = _with_masks(step.measures, step.ended), step.ended.copy()
        return self._walkers.observe(), step.rewards, step.terminated, step.truncated, infos

    def action_masks(self) -> Flags:
        """(B, A) True where an action is possible."""
        return self._walkers.action_masks()

    def render(self) -> tuple[str | NDArray[np.uint8], ...] | None:
        """What `WalkEnv.render` returns, for each walker."""
        if self.render_mode is None:
            return None
        return tuple(self._walkers.render(self.render_mode, row) for row in range(self.num_envs))

    def _infos(self) -> dict[str, Any]:
        return _with_masks(self._walkers.info(), np.ones(self.num_envs, dtype=bool))


def _with_masks(infos: dict[str, NDArray[Any]], present: Flags) -> dict[str, Any]:
    """Each entry, and under "_" and its name the mask of the walkers that have it, as Gymnasium does."""
    masked: dict[str, Any] = dict(infos)
    return masked | {f"_{key}": present.copy() for key in infos}
