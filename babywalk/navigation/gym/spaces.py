"""The observation space and the action space of an environment."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from babywalk.buildings.panorama import VIEWS
from babywalk.navigation.gym.data import EnvData
from babywalk.navigation.observation import ORIENTATION, Observer

SEPARATOR = 1  # characters between the texts of a joined instruction


def action_space(data: EnvData) -> spaces.Discrete:
    """STOP, and as many neighbours as any viewpoint of the data has."""
    return spaces.Discrete(data.world.actions)


def observation_space(data: EnvData) -> spaces.Dict:
    """Views, candidates and the instruction; equal for all splits of a data directory."""
    observer, config = data.observer, data.config
    texts = data.task.chain.shape[1]
    return spaces.Dict(
        {
            "views": _box(observer, VIEWS, observer.view_width),
            "candidates": _box(observer, data.world.actions, observer.candidate_width),
            "mask": spaces.MultiBinary(data.world.actions),
            "tokens": spaces.Box(0, len(data.vocabulary) - 1, (config.words,), dtype=np.int32),
            "length": spaces.Discrete(config.words + 1),
            "instruction": spaces.Text(
                min_length=0,
                max_length=texts * (data.longest_text + SEPARATOR) - SEPARATOR,
                charset=data.characters,
            ),
        }
    )


def _box(observer: Observer, rows: int, width: int) -> spaces.Box[np.float32]:
    """Features within the range of their dtype (their values are not read for this), directions within 1."""
    features = observer.view_width - ORIENTATION
    largest = float(np.finfo(observer.views_table.dtype).max)
    bound: NDArray[Any] = np.full((rows, width), largest, dtype=np.float32)
    bound[:, features : observer.view_width] = 1.0
    return spaces.Box(-bound, bound, dtype=np.float32)
