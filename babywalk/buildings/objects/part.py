"""A part: one block of columns of a view feature, which can be used or left out as a whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.panorama import VIEWS
from babywalk.common.ragged import Integers


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One block of columns of a view feature. Shapes: N viewpoints, 36 views, C columns."""

    name: str  # "names", "groups", "distant", "rooms", "openness"
    columns: tuple[str, ...]  # C column names, distinct
    values: NDArray[np.float16]  # (N, 36, C), between 0 and 1


def blank(viewpoints: int, columns: int) -> NDArray[np.float16]:
    """(N, 36, C) zeros: nothing is seen."""
    return np.zeros((viewpoints, VIEWS, columns), dtype=np.float16)


def raise_to(
    values: NDArray[np.float16],  # (N, 36, C), changed in place
    at: tuple[Integers, Integers, Integers],  # viewpoints, views and columns, all of one shape
    level: NDArray[np.float64],  # of that shape
) -> None:
    """Raise entries to a level that several may ask for: the highest stays."""
    flat = values.reshape(-1)  # a view of the same memory: the array is contiguous
    np.maximum.at(flat, np.ravel_multi_index(at, values.shape), level.astype(np.float16))
