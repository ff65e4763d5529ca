"""Many walkers at once as a Gymnasium vector environment."""

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
from babywalk.navigation.gym.arena import Arena
from babywalk.navigation.gym.order import EpisodeOrder
from babywalk.navigation.gym.rendering import RENDERING, check_render_mode, describe
from babywalk.navigation.gym.settings import Settings
from babywalk.navigation.gym.spaces import action_space, observation_space
from babywalk.navigation.gym.walkers import Flags, Walkers


class WalkVectorEnv(VectorEnv[dict[str, Any], NDArray[np.int64], NDArray[Any]]):
    """B walkers, each as in `WalkEnv`, stepped together.

    A walker whose walk is over begins another in the next step, which ignores its action and rewards it
    with 0 (Gymnasium's mode NEXT_STEP). All walkers draw from one order of episodes, so that none is
    walked twice before all are begun.
    """

    metadata = RENDERING | {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, *, num_envs: int = 1, render_mode: str | None = None, **settings: Any) -> None:
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.num_envs = num_envs
        self.arena = Arena.of(Settings.of(settings))
        self._walkers = Walkers(self.arena, num_envs)
        self._order = EpisodeOrder(self.arena)
        self._ended: Flags = np.zeros(num_envs, dtype=bool)  # (B,) True where the last step ended the walk
        self.single_observation_space = observation_space(self.arena)
        self.single_action_space = action_space(self.arena)
        self.action_space = batch_space(self.single_action_space, num_envs)

    @cached_property
    def observation_space(self) -> Space[dict[str, Any]]:  # type: ignore[override]  # it can be written to
        """B times the space of one walker; made when asked for: its bounds take more memory than walking."""
        return batch_space(self.single_observation_space, self.num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin B episodes: the next of the shuffled order, or those that `options["episode"]` names."""
        super().reset(seed=seed)
        everyone = np.arange(self.num_envs)
        episodes = self._order.reset(self.num_envs, self.np_random, seed=seed, options=options)
        self._walkers.start(everyone, episodes)
        self._ended = np.zeros(self.num_envs, dtype=bool)
        return self._walkers.observe(), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[dict[str, Any], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Take one action each, or begin another walk where the last is over."""
        if not self._walkers.run_config:
            raise ResetNeeded("There are no walks in progress. Call reset() before step().")
        chosen = np.asarray(actions, dtype=np.int64)
        if chosen.shape != (self.num_envs,):
            raise ConfigError(f"The actions have the shape {chosen.shape}; expected ({self.num_envs},).")
        over, going = np.flatnonzero(self._ended), np.flatnonzero(~self._ended)
        self._walkers.start(over, self._order.take(len(over), self.np_random))
        step = self._walkers.step(going, chosen[going])
        self._ended = step.ended
        infos = self._infos()
        if step.measures and step.ended.any():
            infos["measures"], infos["_measures"] = _marked(step.measures, step.ended), step.ended.copy()
        return self._walkers.observe(), step.rewards, step.terminated, step.truncated, infos

    def render(self) -> tuple[str, ...] | None:
        """What `WalkEnv.render` gives, of each walker."""
        if self.render_mode is None:
            return None
        return tuple(describe(self._walkers, row) for row in range(self.num_envs))

    def _infos(self) -> dict[str, Any]:
        return _marked(self._walkers.inform(), np.ones(self.num_envs, dtype=bool))


def _marked(infos: dict[str, NDArray[Any]], present: Flags) -> dict[str, Any]:
    """Beside each entry, under its name with "_" before, for which walkers it holds: Gymnasium's form."""
    marked: dict[str, Any] = dict(infos)
    return marked | {f"_{key}": present.copy() for key in infos}
