"""Which episodes come next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.common.errors import ConfigError, unknown
from babywalk.navigation.gym.arena import Arena

EPISODE = "episode"  # the option of `reset` that names an episode


class EpisodeOrder:
    """Shuffled episodes, epoch after epoch: each epoch holds every episode once, in an order of its own."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._ahead = np.zeros(0, dtype=np.int64)  # what is left of the epoch

    def take(self, count: int, draw: np.random.Generator) -> NDArray[np.int64]:
        """(count,) the next episodes; epochs are drawn when they are due."""
        while len(self._ahead) < count:
            self._ahead = np.concatenate([self._ahead, draw.permutation(len(self._arena.task))])
        taken, self._ahead = self._ahead[:count], self._ahead[count:]
        return taken

    def reset(
        self, count: int, draw: np.random.Generator, *, seed: int | None, options: dict[str, Any] | None
    ) -> NDArray[np.int64]:
        """(count,) the episodes of a reset: a seed begins a new epoch, and the option names them instead."""
        if seed is not None:
            self._ahead = self._ahead[:0]
        wanted = _wanted(options)
        if wanted is None:
            return self.take(count, draw)
        if len(wanted) != count:
            raise ConfigError(f"The option {EPISODE!r} names {len(wanted)} episodes; expected {count}.")
        return self._arena.episodes(wanted)


def _wanted(options: dict[str, Any] | None) -> Sequence[str | int | np.integer[Any]] | None:
    for name in options or ():
        if name != EPISODE:
            raise unknown("Option of reset", name, [EPISODE])
    wanted = (options or {}).get(EPISODE)
    return [wanted] if isinstance(wanted, str | int | np.integer) else wanted
