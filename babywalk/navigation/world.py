"""The world: a pure step on arrays of poses.

Walkers are two arrays, where they stand and which of the 36 views they face. The actions at a viewpoint
are STOP (number 0) and one per neighbour (Fried et al. 2018); who moves faces the view nearest to the
direction of the move. There is no simulator state: a pose can be copied, stored, stepped from twice.
All tables hold NumPy arrays, or torch tensors on one device after `to`.
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
from babywalk.navigation.arrays import Array, namespace

STOP = 0


@dataclass(frozen=True, slots=True, eq=False)
class Poses:
    """Where walkers stand and what they face. Shapes: B walkers, in any shape."""

    viewpoint: Array  # (B,) whole numbers below N
    view: Array  # (B,) whole numbers below 36

    def __getitem__(self, which: Array | slice) -> Poses:
        return Poses(self.viewpoint[which], self.view[which])

    @property
    def column(self) -> Array:
        """(B,) the heading in steps of 30 degrees."""
        return self.view % COLUMNS


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """What lies around every viewpoint. Shapes: N viewpoints, A actions (STOP and the neighbours)."""

    target: Array  # (N, A) the viewpoint an action leads to; for STOP and where there is none, the same
    facing: Array  # (N, A) the view one faces after it; NOWHERE for STOP, which turns nobody
    possible: Array  # (N, A) bool, True where there is such an action
    bearing: Array  # (N, A, 4) sin and cos of the heading, sin and cos of the elevation; zero for STOP
    turn: Array  # (12, 2) sin and cos of each column's heading

    @classmethod
    def of(cls, houses: Houses) -> World:
        """The world of all houses of a data set."""
        count = len(houses.names)
        itself = np.arange(count, dtype=np.int64)[:, None]
        there = houses.neighbours != NOWHERE
        target = np.concatenate([itself, np.where(there, houses.neighbours, itself)], axis=1)
        heading, elevation = direction(houses.positions[target[:, 1:]] - houses.positions[:, None])
        facing = np.full(target.shape, NOWHERE, dtype=np.int64)
        facing[:, 1:] = np.where(there, nearest_view(heading, elevation), NOWHERE)
        bearing = np.zeros((*target.shape, 4), dtype=np.float32)
        bearing[:, 1:] = np.stack(
            [np.sin(heading), np.cos(heading), np.sin(elevation), np.cos(elevation)], axis=-1
        )
        bearing[:, 1:] *= there[..., None]
        columns = np.arange(COLUMNS) * STEP
        return cls(
            target=target,
            facing=facing,
            possible=np.concatenate([np.ones((count, 1), dtype=bool), there], axis=1),
            bearing=bearing,
            turn=np.stack([np.sin(columns), np.cos(columns)], axis=-1).astype(np.float32),
        )

    @property
    def actions(self) -> int:
        """A, the actions of the viewpoint that has the most."""
        return int(self.target.shape[1])

    def to(self, device: Any) -> World:
        """The same world as torch tensors on a device."""
        import torch

        tensors = {
            field.name: torch.as_tensor(getattr(self, field.name)).to(device) for field in fields(self)
        }
        return World(**tensors)

    def mirrored(self) -> World:
        """The mirror image of all houses: what was on the left is on the right."""
        flip = namespace(self.bearing).ones_like(self.bearing[0, 0])
        flip[0] = -1  # sines of headings change their sign, cosines and elevations do not
        return replace(self, bearing=self.bearing * flip, turn=self.turn * flip[:2])

    def step(self, poses: Poses, actions: Array) -> Poses:
        """The poses after one action each; STOP changes nothing. An action that is not possible stays put."""
        view = self.facing[poses.viewpoint, actions]
        turned = namespace(view).where(view == NOWHERE, poses.view, view)
        return Poses(self.target[poses.viewpoint, actions], turned)

    def directions(self, poses: Poses) -> Array:
        """(B, A, 4) sin and cos of each action's heading relative to the walker's, and of its elevation."""
        return self._turned(self.bearing[poses.viewpoint], self.turn[poses.column][..., None, :])

    def direction(self, poses: Poses, actions: Array) -> Array:
        """(B, 4) likewise of one action (B,) each."""
        return self._turned(self.bearing[poses.viewpoint, actions], self.turn[poses.column])

    def _turned(self, bearing: Array, turn: Array) -> Array:
        """sin(h - t) = sin h cos t - cos h sin t, and alike for cos: no angle is ever computed."""
        sine, cosine = bearing[..., 0], bearing[..., 1]
        turn_sine, turn_cosine = turn[..., 0], turn[..., 1]
        relative = namespace(bearing).empty_like(bearing)
        relative[..., 0] = sine * turn_cosine - cosine * turn_sine
        relative[..., 1] = cosine * turn_cosine + sine * turn_sine
        relative[..., 2:] = bearing[..., 2:]
        return relative


def poses_at(viewpoints: Array, headings: Array) -> Poses:
    """Level poses; a heading in radians is rounded to the nearest view, as the field's simulators do."""
    column = np.rint(np.asarray(headings) / STEP).astype(np.int64) % COLUMNS
    return Poses(np.asarray(viewpoints, dtype=np.int64), column + COLUMNS)


def angles(view: Array) -> tuple[Array, Array]:
    """Heading and elevation in radians of the views that are faced."""
    return VIEW_HEADINGS[view], VIEW_ELEVATIONS[view]
