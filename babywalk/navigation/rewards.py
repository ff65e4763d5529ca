"""Rewards: one table, which Gymnasium (step by step) and training (whole trajectories) share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import Houses
from babywalk.common.errors import unknown
from babywalk.common.ragged import Ragged
from babywalk.navigation.measures import MEASURES, Pairs, navigation_error

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Reward:
    """A sum of measures at the end of an episode, and optionally the progress of every step."""

    measures: tuple[str, ...]  # keys of MEASURES, added up at the end of the episode
    progress: bool = False  # adds the metres by which a step reduces the distance to the goal
    stop_only: bool = False  # no measures where the episode was truncated


REWARDS = {
    "goal": Reward(("SR",), progress=True, stop_only=True),  # Wang et al. 2019
    "fidelity": Reward(("SR", "CLS")),  # Jain et al. 2019, and BabyWalk, appendix B.2
    "success_ndtw": Reward(("SR", "nDTW")),
    "ndtw": Reward(("nDTW",)),  # Ilharco et al. 2019
    "sdtw": Reward(("SDTW",)),
    "none": Reward(()),  # for imitation and evaluation
}


def step_rewards(
    kind: str,  # a name in REWARDS
    progress: Floats,  # (B,) metres by which the distance to the goal fell in this step
    stopped: NDArray[np.bool_],  # (B,) True where the agent chose STOP in this step
    measures: Mapping[str, Floats],  # (B,) each of MEASURES; zero where the episode has not ended
) -> Floats:  # (B,)
    """The reward of one step. Over an episode that ends with STOP they add up to `episode_rewards`."""
    reward = REWARDS[kind]
    total: Floats = progress.copy() if reward.progress else np.zeros_like(progress)
    for measure in reward.measures:
        total += stopped * measures[measure] if reward.stop_only else measures[measure]
    return total


def episode_rewards(kind: str, houses: Houses, trajectories: Ragged, references: Ragged) -> Floats:
    """(B,) the reward of each whole trajectory, taken to end with a STOP. Both are rows of viewpoints."""
    if kind not in REWARDS:
        raise unknown("Reward", kind, REWARDS)
    pairs = Pairs.of(houses, trajectories, references)
    error = navigation_error(pairs)
    progress = pairs.distances[0, -1] - error if REWARDS[kind].progress else np.zeros_like(error)
    measures = {measure: MEASURES[measure](pairs) for measure in REWARDS[kind].measures}
    return step_rewards(kind, progress, np.ones(len(error), dtype=np.bool_), measures)
