"""The panorama: 36 views around a viewpoint, and their directions.

View index = 12 * row + column. The rows look 30 degrees down, level and 30 degrees up; the columns turn
clockwise in steps of 30 degrees from heading 0, which points along +y.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

COLUMNS = 12
ROWS = 3
VIEWS = ROWS * COLUMNS
STEP = np.pi / 6  # between neighbouring columns, and between rows

VIEW_HEADINGS: NDArray[np.float64] = np.tile(np.arange(COLUMNS) * STEP, ROWS)  # (36,)
VIEW_ELEVATIONS: NDArray[np.float64] = np.repeat((np.arange(ROWS) - 1) * STEP, COLUMNS)  # (36,)

Floats = NDArray[np.floating[Any]]


def direction(offset: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Heading in [0, 2 pi) and elevation of offsets (..., 3) in metres."""
    east, north, up = np.moveaxis(np.asarray(offset, dtype=np.float64), -1, 0)
    heading = np.mod(np.arctan2(east, north), 2 * np.pi)  # = pi/2 - atan2(north, east)
    heading = np.where(heading < 2 * np.pi, heading, 0.0)  # np.mod rounds an angle just below zero up to 2 pi
    return heading, np.arctan2(up, np.hypot(east, north))


def unit(heading: Floats, elevation: Floats) -> NDArray[np.float64]:
    """(..., 3) the unit vector of a direction."""
    level = np.cos(elevation)
    return np.stack([np.sin(heading) * level, np.cos(heading) * level, np.sin(elevation)], axis=-1)


def nearest_view(heading: Floats, elevation: Floats) -> NDArray[np.int32]:
    """The view whose centre has the smallest angle to a direction."""
    cosine = unit(heading, elevation) @ unit(VIEW_HEADINGS, VIEW_ELEVATIONS).T
    view: NDArray[np.int32] = cosine.argmax(axis=-1).astype(np.int32)
    return view
