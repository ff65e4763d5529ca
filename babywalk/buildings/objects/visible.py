"""The pairs of viewpoints with a line of sight between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import Houses


def visible_pairs(houses: Houses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(V,) viewpoints and (V,) what they see from there, sorted by the former."""
    eyes = np.repeat(np.arange(len(houses.names)), np.diff(houses.first)[houses.house_of])
    pairs = np.flatnonzero(houses.sight)
    eyes = eyes[pairs]
    return eyes, pairs - houses.row[eyes]
