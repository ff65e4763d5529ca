"""History: the poses and actions of finished walks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import Houses
from babywalk.buildings.panorama import VIEWS
from babywalk.common.ragged import Ragged, ranges, starts
from babywalk.navigation.arrays import Array
from babywalk.navigation.world import STOP, Poses, World

Index = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """Finished walks: poses and the action taken in each, as NumPy arrays or torch tensors.

    Shapes: Q walks, T steps in all.
    """

    poses: Poses  # (T,) each
    actions: Array  # (T,) the last of each walk is STOP, unless it was truncated
    start: Array  # (Q + 1,) the first step of each walk, and T

    def distinct(self) -> tuple[History, NDArray[np.int64]]:
        """The distinct walks, and the index (Q,) of each walk among them; NumPy arrays only."""
        actions = 1 + int(self.actions.max(initial=0))
        keys = (self.poses.viewpoint * VIEWS + self.poses.view) * actions + self.actions
        rows, which = Ragged(keys, self.start).distinct()
        lengths = np.diff(self.start)[rows]
        kept = ranges(self.start[:-1][rows], lengths)
        return History(self.poses[kept], self.actions[kept], starts(lengths)), which


def history_along(paths: Ragged, view: Index, world: World, houses: Houses) -> History:
    """The history of walking along paths (Q rows, none empty), with a STOP at the end of each.

    `view` (Q,) is faced at the start; after a move, the view of `world.facing`, which need not be level.
    """
    viewpoints = paths.values.astype(np.int64)
    moved = np.ones(len(viewpoints), dtype=np.bool_)
    moved[paths.start[:-1]] = False
    arrived = np.flatnonzero(moved)
    moves = actions_between(houses, viewpoints[arrived - 1], viewpoints[arrived])
    actions = np.full(len(viewpoints), STOP, dtype=np.int64)
    actions[arrived - 1] = moves
    views = np.empty(len(viewpoints), dtype=np.int64)
    views[paths.start[:-1]] = view
    views[arrived] = world.facing[viewpoints[arrived - 1], moves]
    return History(Poses(viewpoints, views), actions, paths.start)


def actions_between(houses: Houses, a: Index, b: Index) -> NDArray[np.int64]:
    """(B,) the action that moves from a (B,) to its neighbour b (B,); STOP where b is not a neighbour."""
    moves = houses.neighbours[a] == np.asarray(b)[:, None]
    return np.where(moves.any(axis=1), moves.argmax(axis=1) + 1, STOP)
