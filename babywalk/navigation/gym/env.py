"""One walker as a Gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from babywalk.navigation.gym.data import EnvConfig, EnvData, EpisodeSampler
from babywalk.navigation.gym.rendering import RENDERING, check_render_mode
from babywalk.navigation.gym.spaces import action_space, observation_space
from babywalk.navigation.gym.walkers import Flags, Walkers

_ROW = np.zeros(1, dtype=np.int64)  # the only walker of the batch


class WalkEnv(gymnasium.Env[dict[str, Any], np.int64]):
    """Follow an instruction through a house: terminated by STOP, truncated after `max_steps`.

    The keywords are the fields of `EnvConfig`.
    """

    metadata = RENDERING

    def __init__(self, *, render_mode: str | None = None, **keywords: Any) -> None:
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.data = EnvData.of(EnvConfig.of(keywords))
        self.observation_space = observation_space(self.data)
        self.action_space = action_space(self.data)
        self._walkers = Walkers(self.data, 1)
        self._sampler = EpisodeSampler(self.data)
        self._in_progress = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start the next episode of the shuffled order, or the one of `options["episode"]`."""
        super().reset(seed=seed)
        self._walkers.start(_ROW, self._sampler.reset(1, self.np_random, seed=seed, options=options))
        self._in_progress = True
        return _first(self._walkers.observe()), _first(self._walkers.info())

    def step(self, action: np.int64) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Take one action; at the end of the episode, the info has its measures."""
        if not self._in_progress:
            raise gymnasium.error.ResetNeeded("There is no episode in progress. Call reset() before step().")
        step = self._walkers.step(_ROW, np.array([action], dtype=np.int64))
        ended = bool(step.ended[0])
        self._in_progress = not ended
        info = _first(self._walkers.info())
        if ended and step.measures:
            info["measures"] = _first(step.measures)
        return (
            _first(self._walkers.observe()),
            float(step.rewards[0]),
            bool(step.terminated[0]),
            bool(step.truncated[0]),
            info,
        )

    def action_masks(self) -> Flags:
        """(A,) True where an action is possible; sb3-contrib's MaskablePPO calls it."""
        masks: Flags = self._walkers.action_masks()[0]
        return masks

    def render(self) -> str | NDArray[np.uint8] | None:
        """Text in the mode "ansi", a picture in the mode "rgb_array", None without a render mode."""
        return None if self.render_mode is None else self._walkers.render(self.render_mode, 0)


def _first(batch: dict[str, Any]) -> dict[str, Any]:
    """The entries of the only walker."""
    return {key: values[0] for key, values in batch.items()}
