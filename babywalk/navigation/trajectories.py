"""Trajectories, and the recorder that builds them step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from babywalk.common.ragged import Ragged, starts
from babywalk.navigation.arrays import Array, empty, namespace, row_numbers, to_numpy, zeros
from babywalk.navigation.world import Poses


@dataclass(frozen=True, slots=True, eq=False)
class Trajectories:
    """The viewpoints that walkers visited, and the views they faced there. Shapes: B walkers."""

    viewpoints: Ragged  # B rows, none empty, the start first
    views: Ragged  # B rows of the same lengths: the view faced on arrival

    def __len__(self) -> int:
        return len(self.viewpoints)


class TrajectoryRecorder:
    """Collects the poses of walkers step by step, in NumPy arrays or in torch tensors on any device.

    Shapes: B walkers, K of them, T poses that fit before more memory is allocated.
    """

    def __init__(self, start: Poses, *, capacity: int = 16) -> None:
        count = len(start.viewpoint)
        self._viewpoints = empty((count, capacity), like=start.viewpoint)  # (B, T)
        self._views = empty((count, capacity), like=start.view)  # (B, T)
        walkers = row_numbers(start.viewpoint)
        self._length = zeros((count,), like=walkers)  # (B,) poses of each walker
        self.restart(walkers, start)

    def restart(self, walkers: Array, start: Poses) -> None:
        """Start new trajectories of K walkers; their earlier poses are dropped."""
        self._length[walkers] = 0
        self.record(start, namespace(start.viewpoint).ones_like(start.viewpoint), walkers)

    def record(self, poses: Poses, moved: Array, walkers: Array | None = None) -> None:
        """Append the poses (K,) of the walkers for which `moved` (K,) is True.

        `walkers` (K,) are distinct; None: all of them, in order.
        """
        if walkers is None:
            walkers = row_numbers(self._length)
        slot = self._length[walkers]
        if len(slot) and int(slot.max()) == self._views.shape[1]:
            self._grow()
        # The pose of a walker that did not move is written after its end, where the next one replaces it.
        self._viewpoints[walkers, slot] = poses.viewpoint
        self._views[walkers, slot] = poses.view
        self._length[walkers] = slot + moved

    def trajectories(self, walkers: Array | None = None) -> Trajectories:
        """The trajectories so far of K walkers; None: of all, in order."""
        chosen = slice(None) if walkers is None else walkers
        length = to_numpy(self._length[chosen])
        start, inside = starts(length), np.arange(self._views.shape[1]) < length[:, None]
        viewpoints, views = (to_numpy(table[chosen])[inside] for table in (self._viewpoints, self._views))
        return Trajectories(Ragged(viewpoints.astype(np.int32), start), Ragged(views.astype(np.int32), start))

    def _grow(self) -> None:
        """Allocate twice the memory."""
        library = namespace(self._views)
        join = np.concatenate if library is np else library.cat
        self._viewpoints = join([self._viewpoints, library.empty_like(self._viewpoints)], 1)
        self._views = join([self._views, library.empty_like(self._views)], 1)
