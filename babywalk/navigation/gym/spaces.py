"""The spaces of an environment: what can be observed, and what can be done."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from babywalk.buildings.panorama import VIEWS
from babywalk.navigation.gym.arena import Arena
from babywalk.navigation.observation import ORIENTATION, Observer

INSTRUCTION_GAP = 1  # the space between the texts of a joined instruction


def action_space(arena: Arena) -> spaces.Discrete:
    """STOP, and as many neighbours as any viewpoint of the data has."""
    return spaces.Discrete(arena.world.actions)


def observation_space(arena: Arena) -> spaces.Dict:
    """Views, candidates and the instruction; equal for all splits of a data directory."""
    observer, settings = arena.observer, arena.settings
    texts = arena.task.chain.shape[1]
    return spaces.Dict(
        {
            "views": _box(observer, VIEWS, observer.view_width),
            "candidates": _box(observer, arena.world.actions, observer.candidate_width),
            "mask": spaces.MultiBinary(arena.world.actions),
            "tokens": spaces.Box(0, len(arena.vocabulary) - 1, (settings.words,), dtype=np.int32),
            "length": spaces.Discrete(settings.words + 1),
            "instruction": spaces.Text(
                min_length=0,
                max_length=texts * (arena.longest + INSTRUCTION_GAP) - INSTRUCTION_GAP,
                charset=arena.characters,
            ),
        }
    )


def _box(observer: Observer, rows: int, width: int) -> spaces.Box[np.float32]:
    """Features as far as their number type goes (the store is not read for this), directions within 1."""
    features = observer.view_width - ORIENTATION
    bound: NDArray[Any] = np.full((rows, width), _largest(observer), dtype=np.float32)
    bound[:, features : observer.view_width] = 1.0
    return spaces.Box(-bound, bound, dtype=np.float32)


def _largest(observer: Observer) -> float:
    return float(np.finfo(observer.views_table.dtype).max)
