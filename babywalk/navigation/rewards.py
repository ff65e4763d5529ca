"""Rewards: what a whole walk was worth, against the path that was described."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import Houses
from babywalk.common.errors import unknown
from babywalk.common.ragged import Ragged
from babywalk.navigation.measures import Pairs, cls, ndtw, sdtw, success

Floats = NDArray[np.float64]


def _goal(pairs: Pairs) -> Floats:
    """How much nearer to the goal one came, in metres, and 1 at success: the sum of the steps' reductions."""
    nearer: Floats = pairs.between[0, -1] - pairs.between[-1, -1]
    return nearer + success(pairs)


# "fidelity" is SR + CLS, as in the paper (appendix B.2).
REWARDS: dict[str, Callable[[Pairs], Floats]] = {
    "fidelity": lambda pairs: success(pairs) + cls(pairs),
    "goal": _goal,
    "ndtw": lambda pairs: success(pairs) + ndtw(pairs),
    "sdtw": sdtw,
}


def rewards(kind: str, houses: Houses, walked: Ragged, described: Ragged) -> Floats:
    """(B,) the reward of each walk."""
    if kind not in REWARDS:
        raise unknown("Reward", kind, REWARDS)
    return REWARDS[kind](Pairs.of(houses, walked, described))
