"""How much of each view things of a word or a group fill."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.objects.part import blank
from babywalk.buildings.panorama import VIEWS
from babywalk.common.ragged import Integers, Ragged


def fill(
    viewpoints: int,  # N
    columns: int,  # C
    *,
    of: Ragged,  # the columns of each object
    where: tuple[Integers, Integers],  # (B,) viewpoints and (B,) views
    objects: Integers,  # (B,) what is seen there
    areas: NDArray[np.float64],  # (B,) shares of the view
) -> NDArray[np.float16]:  # (N, 36, C)
    """Enter objects in the columns they belong to.

    An entry is the square root of the share of the view that its things fill: the side of a square of
    that area, so that a thing twice as far away counts half, and a cup is not lost beside a wall. Areas of
    several things add up, at most to the whole view; where boxes overlap, the overlap counts twice.
    """
    taken = of.take(objects)
    row = np.repeat(where[0].astype(np.int64) * VIEWS + where[1], taken.lengths)
    entry, thing = np.unique(row * columns + taken.values, return_inverse=True)
    share = np.bincount(thing, weights=np.repeat(areas, taken.lengths), minlength=len(entry))
    values = blank(viewpoints, columns)
    values.reshape(-1)[entry] = np.sqrt(np.minimum(share, 1.0))
    return values
