"""The teacher: which action an expert would take, from a table of shortest ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from babywalk.buildings.houses import NOWHERE, Houses
from babywalk.navigation.arrays import Array, namespace, rows
from babywalk.navigation.world import STOP


@dataclass(frozen=True, slots=True, eq=False)
class Teacher:
    """The first action of the shortest way between any two viewpoints of a house.

    Shapes: N viewpoints, P pairs that share a house, B walkers, L viewpoints of the longest path.
    """

    row: Array  # (N,) the entry of (a, b) is at row[a] + b
    action: Array  # (P,) int8: STOP where a is b, or where b cannot be reached

    @classmethod
    def of(cls, houses: Houses) -> Teacher:
        """For all houses of a data set."""
        size = np.diff(houses.first)[houses.house_of]
        tail = np.repeat(np.arange(len(houses.names)), size)
        action = np.full(len(houses.onward), STOP, dtype=np.int8)
        for slot, neighbour in enumerate(houses.neighbours.T):
            leads = (houses.onward == neighbour[tail]) & (houses.onward != NOWHERE)
            action[leads] = slot + 1
        return cls(houses.row, action)

    def to(self, device: Any) -> Teacher:
        """The same as torch tensors on a device."""
        import torch

        return Teacher(torch.as_tensor(self.row).to(device), torch.as_tensor(self.action).to(device))

    def towards(self, viewpoints: Array, goals: Array) -> Array:
        """(B,) the action towards a goal in the same house; STOP at the goal."""
        return rows(self.action, rows(self.row, viewpoints) + goals)

    def along(
        self,
        viewpoints: Array,  # (B,)
        paths: Array,  # (B, L) viewpoints; what follows a path's end is not looked at
        lengths: Array,  # (B,) viewpoints of each path
        reached: Array,  # (B,) index of the path's viewpoint that was reached last, 0 at the start
    ) -> tuple[Array, Array]:  # actions (B,), reached (B,)
        """The action that walks a path viewpoint by viewpoint; who strays is led to the next one due."""
        library = namespace(paths)
        last = lengths - 1
        walker = library.arange(len(paths))
        due = library.minimum(reached + 1, last)
        reached = library.where(paths[walker, due] == viewpoints, due, reached)
        due = library.minimum(reached + 1, last)
        return self.towards(viewpoints, paths[walker, due]), reached
