"""What is seen when walking from one viewpoint to the next. Shapes: P pairs of viewpoints, D columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.features import ViewFeatures
from babywalk.buildings.houses import Houses
from babywalk.buildings.panorama import COLUMNS, STEP, direction

PARTS = 3


def unique_pairs(
    before: NDArray[np.int32], here: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # (P, 2) pairs, (S,) the pair of each state
    """The distinct pairs: many paths share their edges, and what is seen is worked out once."""
    width = int(here.max(initial=0)) + 1
    code, place = np.unique(before.astype(np.int64) * width + here, return_inverse=True)
    return np.stack([code // width, code % width], axis=1), place


def sights(
    houses: Houses, features: ViewFeatures, pairs: NDArray[np.int64]
) -> NDArray[np.float32]:  # (P, PARTS * D)
    """The view ahead before the move, the view ahead after it, and all around after it.

    At the start of a path, where the two viewpoints are one, nothing is seen ahead.
    """
    before, here = pairs.T
    heading, _ = direction(houses.positions[here] - houses.positions[before])
    level = COLUMNS + np.round(heading / STEP).astype(np.int64) % COLUMNS
    moved = (before != here)[:, None]
    ahead = [features.view(viewpoint, level) * moved for viewpoint in (before, here)]
    return np.concatenate([*ahead, features.ahead(here)], axis=1)
