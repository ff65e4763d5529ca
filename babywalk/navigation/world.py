"""The world: a pure step on arrays of poses.

The pose of a walker is a viewpoint and the one of its 36 views that the walker faces. The actions at a
viewpoint are STOP (0) and one per neighbour (Fried et al. 2018); after a move the walker faces the view
nearest to the direction of the move. There is no simulator state: a pose can be copied, stored and stepped
from twice. All tables are NumPy arrays, or torch tensors on one device after `to`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from babywalk.buildings.houses import NOWHERE, Houses
from babywalk.buildings.panorama import (
    COLUMNS,
    STEP,
    VIEW_ELEVATIONS,
    VIEW_HEADINGS,
    direction,
    nearest_view,
)
from babywalk.episodes.task import Task
from babywalk.navigation.arrays import Array, namespace, to_device, to_numpy

STOP = 0


@dataclass(frozen=True, slots=True, eq=False)
class Poses:
    """The viewpoint and the view of each walker. Shapes: B walkers, in any shape."""

    viewpoint: Array  # (B,) integers below N
    view: Array  # (B,) integers below 36

    def __getitem__(self, index: Array | slice) -> Poses:
        return Poses(self.viewpoint[index], self.view[index])

    def to(self, device: Any) -> Poses:
        """The same poses as torch tensors on a device."""
        return Poses(to_device(self.viewpoint, device), to_device(self.view, device))

    @property
    def column(self) -> Array:
        """(B,) the heading in steps of 30 degrees."""
        return self.view % COLUMNS


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """The actions at every viewpoint. Shapes: N viewpoints, A actions (STOP, then neighbours), B walkers."""

    target: Array  # (N, A) the viewpoint after an action; its own for STOP and impossible actions
    facing: Array  # (N, A) the view faced after an action; NOWHERE for STOP and impossible actions
    possible: Array  # (N, A) bool, True where the action exists
    length: Array  # (N, A) metres of a move; 0 for STOP and impossible actions
    bearing: Array  # (N, A, 4) sin and cos of heading and elevation; zero for STOP and impossible actions
    turn: Array  # (12, 2) sin and cos of each column's heading

    @classmethod
    def of(cls, houses: Houses) -> World:
        """The world of all houses of a dataset."""
        count = len(houses.names)
        own = np.arange(count, dtype=np.int64)[:, None]
        exists = houses.neighbours != NOWHERE
        target = np.concatenate([own, np.where(exists, houses.neighbours, own)], axis=1)
        offset = houses.positions[target] - houses.positions[:, None]
        heading, elevation = direction(offset[:, 1:])
        facing = np.full(target.shape, NOWHERE, dtype=np.int64)
        facing[:, 1:] = np.where(exists, nearest_view(heading, elevation), NOWHERE)
        bearing = np.zeros((*target.shape, 4), dtype=np.float32)
        bearing[:, 1:] = np.stack(
            [np.sin(heading), np.cos(heading), np.sin(elevation), np.cos(elevation)], axis=-1
        )
        bearing[:, 1:] *= exists[..., None]
        columns = np.arange(COLUMNS) * STEP
        return cls(
            target=target,
            facing=facing,
            possible=np.concatenate([np.ones((count, 1), dtype=bool), exists], axis=1),
            length=np.linalg.norm(offset, axis=2).astype(np.float32),
            bearing=bearing,
            turn=np.stack([np.sin(columns), np.cos(columns)], axis=-1).astype(np.float32),
        )

    @property
    def actions(self) -> int:
        """A, the largest number of actions at any viewpoint."""
        return int(self.target.shape[1])

    def to(self, device: Any) -> World:
        """The same world as torch tensors on a device."""
        return World(**{field.name: to_device(getattr(self, field.name), device) for field in fields(self)})

    def mirrored(self) -> World:
        """The mirror image of all houses: left and right are exchanged."""
        flip = namespace(self.bearing).ones_like(self.bearing[0, 0])
        flip[0] = -1  # the sine of a heading changes its sign, its cosine and the elevation do not
        return replace(self, bearing=self.bearing * flip, turn=self.turn * flip[:2])

    def step(self, poses: Poses, actions: Array) -> Poses:
        """The poses after one action (B,) each. STOP and impossible actions change nothing."""
        view = self.facing[poses.viewpoint, actions]
        turned = namespace(view).where(view == NOWHERE, poses.view, view)
        return Poses(self.target[poses.viewpoint, actions], turned)

    def directions(self, poses: Poses) -> Array:
        """(B, A, 4) sin and cos of each action's heading relative to the walker's, and of its elevation."""
        return self._relative(self.bearing[poses.viewpoint], self.turn[poses.column][..., None, :])

    def direction(self, poses: Poses, actions: Array) -> Array:
        """(B, 4) the same for one action (B,) each."""
        return self._relative(self.bearing[poses.viewpoint, actions], self.turn[poses.column])

    def _relative(self, bearing: Array, turn: Array) -> Array:
        """sin(h - t) = sin h cos t - cos h sin t and cos(h - t) = cos h cos t + sin h sin t."""
        sine, cosine = bearing[..., 0], bearing[..., 1]
        turn_sine, turn_cosine = turn[..., 0], turn[..., 1]
        relative = namespace(bearing).empty_like(bearing)
        relative[..., 0] = sine * turn_cosine - cosine * turn_sine
        relative[..., 1] = cosine * turn_cosine + sine * turn_sine
        relative[..., 2:] = bearing[..., 2:]
        return relative


def poses_at(viewpoints: Array, headings: Array) -> Poses:
    """Level poses (NumPy). Headings in radians are rounded to a view, as in the Matterport3D simulator."""
    column = np.rint(np.asarray(headings) / STEP).astype(np.int64) % COLUMNS
    return Poses(np.asarray(viewpoints, dtype=np.int64), column + COLUMNS)


def start_poses(task: Task, episodes: Array, places: Array | None = None) -> Poses:
    """Level poses (NumPy) at the start of episodes, or of Baby-Steps that start at index `places`."""
    chain = task.chain_of(episodes)
    start = task.paths.start[chain]
    viewpoints = task.paths.values[start if places is None else start + places]
    return poses_at(viewpoints, task.start_headings(chain, places))


def angles(view: Array) -> tuple[Array, Array]:
    """Heading and elevation in radians of views (NumPy)."""
    index = to_numpy(view)
    return VIEW_HEADINGS[index], VIEW_ELEVATIONS[index]
