"""What walkers did before: the poses and actions of finished walks."""

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
    """Walks that were taken: poses and the action taken in each, as NumPy arrays or torch tensors.

    Shapes: Q walks, T steps in all.
    """

    poses: Poses  # (T,) each
    actions: Array  # (T,) the last of each walk is STOP, unless it was cut off
    start: Array  # (Q + 1,)

    def distinct(self) -> tuple[History, NDArray[np.int64]]:
        """Walks that differ, and which of them each (Q,) is; of NumPy arrays."""
        actions = 1 + int(self.actions.max(initial=0))
        places = (self.poses.viewpoint * VIEWS + self.poses.view) * actions + self.actions
        rows, which = Ragged(places, self.start).distinct()
        lengths = np.diff(self.start)[rows]
        kept = ranges(self.start[:-1][rows], lengths)
        return History(self.poses[kept], self.actions[kept], starts(lengths)), which


def walked_along(ways: Ragged, view: Index, world: World, houses: Houses) -> History:
    """Ways (Q rows) as they are walked, and a STOP at the end of each; `view` (Q,) is faced at the beginning.

    Inside, one faces up or down as the move went.
    """
    nodes = ways.values.astype(np.int64)
    moved = np.ones(len(nodes), dtype=np.bool_)
    moved[ways.start[:-1]] = False  # each way begins, and none is empty
    came = np.flatnonzero(moved)
    leads = actions_between(houses, nodes[came - 1], nodes[came])
    actions = np.full(len(nodes), STOP, dtype=np.int64)
    actions[came - 1] = leads
    faced = np.empty(len(nodes), dtype=np.int64)
    faced[ways.start[:-1]] = view
    faced[came] = world.facing[nodes[came - 1], leads]
    return History(Poses(nodes, faced), actions, ways.start)


def actions_between(houses: Houses, a: Index, b: Index) -> NDArray[np.int64]:
    """The action that leads from a to its neighbour b; STOP where b is no neighbour, as where it is a."""
    leads = houses.neighbours[a] == np.asarray(b)[:, None]
    return np.where(leads.any(axis=1), leads.argmax(axis=1) + 1, STOP)
