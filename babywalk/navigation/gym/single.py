"""One walker as a Gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from babywalk.navigation.gym.arena import Arena
from babywalk.navigation.gym.order import EpisodeOrder
from babywalk.navigation.gym.rendering import RENDERING, check_render_mode, describe
from babywalk.navigation.gym.settings import Settings
from babywalk.navigation.gym.spaces import action_space, observation_space
from babywalk.navigation.gym.walkers import Walkers

_ROW = np.zeros(1, dtype=np.int64)  # the only walker of the batch


class WalkEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """Follow an instruction through a house: terminated at STOP, truncated when the steps are used up.

    The keywords are the fields of `Settings`.
    """

    metadata = RENDERING

    def __init__(self, *, render_mode: str | None = None, **settings: Any) -> None:
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.arena = Arena.of(Settings.of(settings))
        self.observation_space = observation_space(self.arena)
        self.action_space = action_space(self.arena)
        self._walkers = Walkers(self.arena, 1)
        self._order = EpisodeOrder(self.arena)
        self._walking = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin the next episode of the shuffled order, or the one that `options["episode"]` names."""
        super().reset(seed=seed)
        self._walkers.start(_ROW, self._order.reset(1, self.np_random, seed=seed, options=options))
        self._walking = True
        return _only(self._walkers.observe()), _only(self._walkers.inform())

    def step(self, action: np.int64) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Take one action; at the end, the info has the measures of the walk."""
        if not self._walking:
            raise gymnasium.error.ResetNeeded("There is no walk in progress. Call reset() before step().")
        step = self._walkers.step(_ROW, np.array([action], dtype=np.int64))
        ended = bool(step.ended[0])
        self._walking = not ended
        info = _only(self._walkers.inform())
        if ended and step.measures:
            info["measures"] = _only(step.measures)
        return (
            _only(self._walkers.observe()),
            float(step.rewards[0]),
            bool(step.terminated[0]),
            bool(step.truncated[0]),
            info,
        )

    def render(self) -> str | None:
        """Where the walker is and what it can do, as text; nothing without a render mode."""
        return None if self.render_mode is None else describe(self._walkers, 0)


def _only(batch: dict[str, Any]) -> dict[str, Any]:
    """The entry of the only walker."""
    return {key: values[0] for key, values in batch.items()}
