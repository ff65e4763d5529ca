"""The teacher: the expert's action and the way that is left, from tables of shortest paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from babywalk.buildings.houses import NOWHERE, Houses
from babywalk.navigation.arrays import Array, namespace, row_numbers, rows, to_device
from babywalk.navigation.world import STOP


@dataclass(frozen=True, slots=True, eq=False)
class Teacher:
    """The first action and the length of the shortest path between any two viewpoints of a house.

    Shapes: N viewpoints, P pairs that share a house, B walkers, L viewpoints of the longest path.
    """

    row: Array  # (N,) the entry of (a, b) is at row[a] + b
    action: Array  # (P,) int8: STOP where a is b, or where b cannot be reached
    length: Array  # (P,) float32 metres, infinite where b cannot be reached

    @classmethod
    def of(cls, houses: Houses) -> Teacher:
        """The teacher for all houses of a dataset."""
        size = np.diff(houses.first)[houses.house_of]
        tail = np.repeat(np.arange(len(houses.names)), size)
        action = np.full(len(houses.next_step), STOP, dtype=np.int8)
        for slot, neighbour in enumerate(houses.neighbours.T):
            first = (houses.next_step == neighbour[tail]) & (houses.next_step != NOWHERE)
            action[first] = slot + 1
        return cls(houses.row, action, houses.distances.astype(np.float32))

    def to(self, device: Any) -> Teacher:
        """The same as torch tensors on a device."""
        tables = (self.row, self.action, self.length)
        return Teacher(*(to_device(table, device) for table in tables))

    def towards(self, viewpoints: Array, goals: Array) -> Array:
        """(B,) the action towards a goal in the same house; STOP at the goal."""
        return rows(self.action, rows(self.row, viewpoints) + goals)

    def metres(self, viewpoints: Array, goals: Array) -> Array:
        """(B,) metres of the shortest path to a goal in the same house."""
        return rows(self.length, rows(self.row, viewpoints) + goals)

    def along(
        self,
        viewpoints: Array,  # (B,)
        paths: Array,  # (B, L) viewpoints, padded with any value
        lengths: Array,  # (B,) viewpoints of each path
        reached: Array,  # (B,) index of the last viewpoint of the path that was reached, 0 at the start
    ) -> tuple[Array, Array]:  # actions (B,), reached (B,)
        """The action towards the next viewpoint of a path, from wherever the walker is; STOP at its end."""
        library = namespace(paths)
        last = lengths - 1
        walker = row_numbers(paths)
        following = library.minimum(reached + 1, last)
        reached = library.where(paths[walker, following] == viewpoints, following, reached)
        following = library.minimum(reached + 1, last)
        return self.towards(viewpoints, paths[walker, following]), reached
