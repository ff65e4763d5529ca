"""What walkers see: agent-centred views and candidate embeddings, gathered from one feature store.

A view is its feature (D numbers) and its orientation (128): [sin h, cos h, sin e, cos e], with the heading
relative to the walker's, tiled 32 times (appendix B.1 of the paper). A candidate is the view that shows
it, with its own direction; STOP is zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from babywalk.buildings.features import ViewFeatures
from babywalk.buildings.houses import NOWHERE
from babywalk.buildings.panorama import COLUMNS, STEP, VIEW_ELEVATIONS, VIEW_HEADINGS, VIEWS
from babywalk.navigation.arrays import Array, cells, namespace, rows
from babywalk.navigation.world import Poses, World

TILES = 32
ORIENTATION = 4 * TILES


@dataclass(frozen=True, slots=True, eq=False)
class Observer:
    """Turns poses into what is seen. Shapes: B walkers, A actions, D numbers per view."""

    world: World
    views_table: Array  # (N, 36, D) float32 or float16
    ahead_table: Array | None  # (N, D) where candidates also show the neighbour's panorama
    orientation_table: Array  # (12, 36, 128) of each view for a walker who faces each column

    @classmethod
    def of(cls, world: World, features: ViewFeatures) -> Observer:
        """Over a memory-mapped store; nothing is copied where the spec names one block of one source."""
        return cls.over(world, features.views_table(), features.ahead_table() if features.lookahead else None)

    @classmethod
    def over(cls, world: World, views: Array, ahead: Array | None = None) -> Observer:
        """Over any table of views (N, 36, D), and of panoramas (N, D) for look-ahead."""
        relative = VIEW_HEADINGS - (np.arange(COLUMNS) * STEP)[:, None]
        elevation = np.broadcast_to(VIEW_ELEVATIONS, relative.shape)
        orientation = np.stack(
            [np.sin(relative), np.cos(relative), np.sin(elevation), np.cos(elevation)], axis=-1
        )
        return cls(world, views, ahead, np.tile(orientation, TILES).astype(np.float32))

    @property
    def view_width(self) -> int:
        """The numbers of one view, D + 128."""
        return int(self.views_table.shape[2]) + ORIENTATION

    @property
    def candidate_width(self) -> int:
        """The numbers of one candidate: those of a view, and D more with look-ahead."""
        return self.view_width + (0 if self.ahead_table is None else int(self.ahead_table.shape[1]))

    def to(self, device: Any) -> Observer:
        """The same as torch tensors on a device; the features are read into its memory."""
        import torch

        def moved(array: Array) -> Array:
            return torch.tensor(np.asarray(array)).to(device)

        return Observer(
            world=self.world.to(device),
            views_table=moved(self.views_table),
            ahead_table=None if self.ahead_table is None else moved(self.ahead_table),
            orientation_table=moved(self.orientation_table),
        )

    def scaled(self, gain: float) -> Observer:
        """The same with all features, not directions, times `gain`."""
        if gain == 1.0:
            return self
        ahead = None if self.ahead_table is None else self.ahead_table * gain
        return replace(self, views_table=self.views_table * gain, ahead_table=ahead)

    def mirrored(self) -> Observer:
        """What is seen in the mirror images of all houses, over the same features."""
        flip = namespace(self.orientation_table).ones_like(self.orientation_table[0, 0])
        flip[::4] = -1
        return replace(self, world=self.world.mirrored(), orientation_table=self.orientation_table * flip)

    def views(self, poses: Poses) -> Array:
        """(B, 36, D + 128) all views around each walker, in the order of the panorama."""
        width = self.view_width - ORIENTATION
        table = self.orientation_table
        # Filled in place: joining the halves would write each of them twice.
        seen = namespace(table).empty((len(poses.viewpoint), VIEWS, self.view_width), dtype=table.dtype)
        seen[..., :width] = rows(self.views_table, poses.viewpoint)
        seen[..., width:] = rows(table, poses.column)
        return seen

    def candidates(self, poses: Poses) -> Array:
        """(B, A, candidate_width) each action; zero for STOP and where `world.possible` is False."""
        leads = rows(self.world.facing, poses.viewpoint) != NOWHERE  # (B, A)
        # Most viewpoints have few neighbours: only what is there is gathered.
        walker, action = leads.nonzero() if isinstance(leads, np.ndarray) else leads.nonzero(as_tuple=True)
        library, table = namespace(leads), self.orientation_table
        seen = library.zeros((*leads.shape, self.candidate_width), dtype=table.dtype)
        seen[walker, action] = self._towards(poses[walker], action)
        return seen

    def taken(self, poses: Poses, actions: Array) -> Array:
        """(B, candidate_width) the candidate of one action (B,) each; zero for STOP."""
        shown = self._towards(poses, actions)
        shown[self.world.facing[poses.viewpoint, actions] == NOWHERE] = 0
        return shown

    def _towards(self, poses: Poses, actions: Array) -> Array:
        """Likewise, for actions that lead somewhere; anything for those that do not."""
        world, width = self.world, self.view_width - ORIENTATION
        library, table = namespace(self.orientation_table), self.orientation_table
        view = world.facing[poses.viewpoint, actions].clip(0)
        shown = library.empty((len(actions), self.candidate_width), dtype=table.dtype)
        shown[:, :width] = cells(self.views_table, poses.viewpoint, view)
        shown[:, width : self.view_width] = library.tile(world.direction(poses, actions), (1, TILES))
        if self.ahead_table is not None:
            shown[:, self.view_width :] = rows(self.ahead_table, world.target[poses.viewpoint, actions])
        return shown
