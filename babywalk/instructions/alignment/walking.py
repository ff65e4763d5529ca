"""What walking a path is like: turns, climbs and metres, which instructions speak of as much as of landmarks.

Everything is over the flat states of many paths. Shapes: S states of all paths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import Houses
from babywalk.buildings.panorama import COLUMNS, STEP, direction
from babywalk.common.ragged import Ragged

_STEEP = 0.25  # radians: stairs are steeper, door sills are not
EDGE_WIDTH = 2 * COLUMNS + 6
STATE_WIDTH = COLUMNS + 1 + 3 + 3 + 2


@dataclass(frozen=True, slots=True, eq=False)
class Walking:
    """The moves along paths, state by state; the last state of a path has no edge that leaves it."""

    before: NDArray[np.int32]  # (S,) the viewpoint one comes from; itself at the start of a path
    here: NDArray[np.int32]  # (S,)
    edge: NDArray[np.float32]  # (S, EDGE_WIDTH) of the edge that leaves the state, zeros at the last
    state: NDArray[np.float32]  # (S, STATE_WIDTH) of arriving there and going on

    @classmethod
    def of(cls, houses: Houses, paths: Ragged, headings: NDArray[np.float64]) -> Walking:
        """Of paths, each begun with the given heading."""
        here = paths.values
        first, last = np.zeros(len(here), dtype=np.bool_), np.zeros(len(here), dtype=np.bool_)
        first[paths.start[:-1]], last[paths.start[1:] - 1] = True, True
        offset = np.zeros((len(here), 3))
        offset[~last] = houses.positions[here[1:]][~last[:-1]] - houses.positions[here[:-1]][~last[:-1]]
        heading, elevation = direction(offset)
        facing = np.append(0.0, heading[:-1])
        facing[paths.start[:-1]] = headings
        turn = circle(heading - facing) * ~last[:, None]  # no turn where the path ends
        slope = np.stack([elevation < -_STEEP, np.abs(elevation) <= _STEEP, elevation > _STEEP], axis=1)
        slope &= ~last[:, None]
        metres = np.linalg.norm(offset, axis=1)
        steepness = [3 * np.sin(elevation), metres / 2 - 1, first]  # of about the size of the other columns
        edge = np.concatenate([turn, turn * first[:, None], slope, np.stack(steepness, axis=1)], axis=1)
        came = np.roll(slope, 1, axis=0) & ~first[:, None]
        state = np.concatenate([turn, last[:, None], slope, came, first[:, None], last[:, None]], axis=1)
        return cls(
            before=np.where(first, here, np.roll(here, 1)),
            here=here,
            edge=(edge * ~last[:, None]).astype(np.float32),
            state=state.astype(np.float32),
        )


def circle(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """(S, 12) an angle as weights on the two nearest of twelve directions, straight on first."""
    gap = np.abs(np.mod(angle[:, None] - np.arange(COLUMNS) * STEP + np.pi, 2 * np.pi) - np.pi)
    weights: NDArray[np.float64] = np.maximum(0.0, 1.0 - gap / STEP)
    return weights
