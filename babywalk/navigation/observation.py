"""Observations: agent-centred views and candidate actions, gathered from a table of view features.

A view is its features (D) and its orientation (128): [sin h, cos h, sin e, cos e], with the heading h
relative to the walker's, tiled 32 times (appendix B.1 of the paper). A candidate has the features of the
view that shows it and its own direction; STOP is zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from babywalk.buildings.features import ViewFeatures, open_features
from babywalk.buildings.houses import NOWHERE
from babywalk.buildings.panorama import COLUMNS, STEP, VIEW_ELEVATIONS, VIEW_HEADINGS, VIEWS
from babywalk.episodes.dataset import Dataset
from babywalk.navigation.arrays import Array, cells, empty, namespace, rows, to_device, zeros
from babywalk.navigation.world import Poses, World

TILES = 32
ORIENTATION = 4 * TILES


@dataclass(frozen=True, slots=True, eq=False)
class Observer:
    """Gathers what walkers see at their poses.

    Shapes: N viewpoints, B walkers, A actions, D features per view.
    """

    world: World
    views_table: Array  # (N, 36, D) float32 or float16
    panorama_table: Array | None  # (N, D) the panorama of a candidate's viewpoint; None without look-ahead
    orientation_table: Array  # (12, 36, 128) the orientation of each view, for each column faced

    @classmethod
    def of(cls, world: World, features: ViewFeatures) -> Observer:
        """From memory-mapped features; nothing is copied where the spec names one block of one source."""
        panoramas = features.panorama_table() if features.lookahead else None
        return cls.over(world, features.views_table(), panoramas)

    @classmethod
    def over(cls, world: World, views: Array, panoramas: Array | None = None) -> Observer:
        """From a table of views (N, 36, D), and for look-ahead one of panoramas (N, D)."""
        relative = VIEW_HEADINGS - (np.arange(COLUMNS) * STEP)[:, None]
        elevation = np.broadcast_to(VIEW_ELEVATIONS, relative.shape)
        orientation = np.stack(
            [np.sin(relative), np.cos(relative), np.sin(elevation), np.cos(elevation)], axis=-1
        )
        return cls(world, views, panoramas, np.tile(orientation, TILES).astype(np.float32))

    @property
    def view_width(self) -> int:
        """Dimensions of one view, D + 128."""
        return int(self.views_table.shape[2]) + ORIENTATION

    @property
    def candidate_width(self) -> int:
        """Dimensions of one candidate: those of a view, and D more with look-ahead."""
        return self.view_width + (0 if self.panorama_table is None else int(self.panorama_table.shape[1]))

    def to(self, device: Any) -> Observer:
        """The same as torch tensors on a device; memory-mapped features are read into its memory."""
        return Observer(
            world=self.world.to(device),
            views_table=to_device(self.views_table, device),
            panorama_table=None if self.panorama_table is None else to_device(self.panorama_table, device),
            orientation_table=to_device(self.orientation_table, device),
        )

    def scaled(self, gain: float) -> Observer:
        """The same with all features multiplied by `gain`; directions are unchanged."""
        if gain == 1.0:
            return self
        panoramas = None if self.panorama_table is None else self.panorama_table * gain
        return replace(self, views_table=self.views_table * gain, panorama_table=panoramas)

    def mirrored(self) -> Observer:
        """The observer of the mirror images of all houses, with the same features."""
        flip = namespace(self.orientation_table).ones_like(self.orientation_table[0, 0])
        flip[::4] = -1
        return replace(self, world=self.world.mirrored(), orientation_table=self.orientation_table * flip)

    def views(self, poses: Poses) -> Array:
        """(B, 36, D + 128) the views around each walker, in the order of the panorama."""
        width = self.view_width - ORIENTATION
        table = self.orientation_table
        # Filled in place: concatenation would write both parts twice.
        views = empty((len(poses.viewpoint), VIEWS, self.view_width), like=table)
        views[..., :width] = rows(self.views_table, poses.viewpoint)
        views[..., width:] = rows(table, poses.column)
        return views

    def candidates(self, poses: Poses) -> Array:
        """(B, A, candidate_width) the candidate of each action; zero for STOP and impossible actions."""
        moves = rows(self.world.facing, poses.viewpoint) != NOWHERE  # (B, A) True where an action moves
        # Most viewpoints have few neighbours: only actions that exist are gathered.
        walker, action = moves.nonzero() if isinstance(moves, np.ndarray) else moves.nonzero(as_tuple=True)
        candidates = zeros((*moves.shape, self.candidate_width), like=self.orientation_table)
        candidates[walker, action] = self._candidates(poses[walker], action)
        return candidates

    def chosen(self, poses: Poses, actions: Array) -> Array:
        """(B, candidate_width) the candidate of one action (B,) each; zero for STOP."""
        candidates = self._candidates(poses, actions)
        candidates[self.world.facing[poses.viewpoint, actions] == NOWHERE] = 0
        return candidates

    def _candidates(self, poses: Poses, actions: Array) -> Array:
        """(B, candidate_width) of actions (B,) that move; undefined for STOP and impossible actions."""
        world, width = self.world, self.view_width - ORIENTATION
        library, table = namespace(self.orientation_table), self.orientation_table
        view = world.facing[poses.viewpoint, actions].clip(0)
        candidates = empty((len(actions), self.candidate_width), like=table)
        candidates[:, :width] = cells(self.views_table, poses.viewpoint, view)
        candidates[:, width : self.view_width] = library.tile(world.direction(poses, actions), (1, TILES))
        if self.panorama_table is not None:
            target = world.target[poses.viewpoint, actions]
            candidates[:, self.view_width :] = rows(self.panorama_table, target)
        return candidates


def observer_for(spec: str, dataset: Dataset, *, gain: float = 1.0, device: str = "cpu") -> Observer:
    """What walkers see under a feature spec, as tensors on a device; features are multiplied by `gain`."""
    features = open_features(dataset.folder, spec, dataset.houses)
    return Observer.of(World.of(dataset.houses), features).to(device).scaled(gain)
