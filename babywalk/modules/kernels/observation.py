"""`Observation` without materialised panoramas: see `panorama.py` and `lazy_rows.py`.

An orientation is four numbers, tiled 32 times; it is enough to compare and mix the four.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from babywalk.buildings.houses import NOWHERE
from babywalk.buildings.panorama import VIEWS
from babywalk.modules.kernels.lazy_rows import LazyRows, ProductCache, SparseRows
from babywalk.modules.kernels.matmul import product
from babywalk.modules.kernels.panorama import Slots, TableRows, WalkersByViewpoint, attend, dot_products
from babywalk.modules.observation import Observation
from babywalk.navigation.observation import ORIENTATION, TILES, Observer
from babywalk.navigation.world import STOP, Poses


class KernelObservation(Observation):
    """Shapes as in `Observation`. With a product cache no gradients can be computed."""

    def __init__(
        self,
        observer: Observer,
        poses: Poses,
        channels: Tensor | None = None,
        cache: ProductCache | None = None,
    ) -> None:
        super().__init__(observer, poses, channels)
        self.cache = cache

    def attend(self, query: Tensor) -> tuple[AttendedViews, Tensor]:  # type: ignore[override]  # lazy rows
        """Attention over the views with a query (B, F): the attended view (B, F), the weights (B, S)."""
        features, orientation = self._split(query)
        four = self.observer.orientation_table[..., :4].to(query.dtype)
        around = four.index_select(0, self.poses.column)
        bias = torch.bmm(around, orientation[..., None])[..., 0]
        attended, weights = attend(features, bias, self._panoramas, self._panorama_slots)
        facing = torch.bmm(weights[:, None], around)[:, 0]
        return AttendedViews(self._scaled(attended), facing, self.cache is not None), weights

    def match_views(self, features: Tensor) -> Tensor:
        """(B, S) the dot product of each view's features with a vector (B, D)."""
        return dot_products(self._scaled(features), self._panoramas, self._panorama_slots)

    def match_candidates(self, features: Tensor) -> Tensor:
        """(B, K) the dot product of each candidate's features with a vector (B, D)."""
        rest = self.observer.candidate_width - self.feature_size
        return self.score_candidates(nn.functional.pad(features, (0, rest)))

    def score_candidates(self, wanted: Tensor) -> Tensor:
        """(B, K) the dot product of each candidate with a vector (B, A); zero for STOP and where none is."""
        world, observer = self.observer.world, self.observer
        features, orientation = self._split(wanted[:, : observer.view_width])
        leads = world.facing[self.poses.viewpoint] != NOWHERE
        most = max(1, int(leads.sum(dim=1).max()))
        neighbours = slice(1, 1 + most)  # after STOP
        here, slots = self.walkers.viewpoints, self.walkers.slots(most * self.feature_size)
        views = world.facing[here, neighbours].clamp(min=0)
        table = observer.views_table.flatten(0, 1)
        scores = dot_products(features, TableRows(table, here[:, None] * VIEWS + views), slots)
        if observer.panorama_table is not None:
            targets, lookahead = world.target[here, neighbours], wanted[:, observer.view_width :]
            scores = scores + dot_products(lookahead, TableRows(observer.panorama_table, targets), slots)
        scores = nn.functional.pad(scores, (1, leads.shape[1] - 1 - most)).masked_fill(~leads, 0)
        directions = world.directions(self.poses).to(wanted.dtype)
        return scores + torch.bmm(directions, orientation[..., None])[..., 0]

    def chosen(self, actions: Tensor) -> ChosenActions:  # type: ignore[override]  # lazy rows
        """(B, A) the candidates of chosen actions (B,); zero for STOP."""
        return ChosenActions(self.observer, self.poses, actions, self.channels, self.cache)

    @cached_property
    def walkers(self) -> WalkersByViewpoint:
        """Who shares a viewpoint."""
        return WalkersByViewpoint.of(self.poses.viewpoint)

    @cached_property
    def _panoramas(self) -> TableRows:
        return TableRows(self.observer.views_table, self.walkers.viewpoints)

    @cached_property
    def _panorama_slots(self) -> Slots:
        return self.walkers.slots(VIEWS * self.feature_size)

    def _split(self, query: Tensor) -> tuple[Tensor, Tensor]:
        """The part of a query for features (B, D), and that for the orientation (B, 4)."""
        features, tiled = query.split_with_sizes([self.feature_size, ORIENTATION], dim=1)
        return self._scaled(features), tiled @ _sum_of_tiles(query)

    def _scaled(self, features: Tensor) -> Tensor:
        return features if self.channels is None else features * self.channels


@dataclass(frozen=True, slots=True, eq=False)
class AttendedViews(LazyRows):
    """Attended views (B, F). Shapes as in `Observation`."""

    features: Tensor  # (B, D)
    orientation: Tensor  # (B, 4), not tiled
    stays_lazy: bool  # without gradients and dropout

    @property
    def shape(self) -> tuple[int, int]:
        """(B, F)."""
        return len(self.features), self.features.shape[1] + ORIENTATION

    def materialise(self) -> Tensor:
        """(B, F)."""
        return torch.cat([self.features, self.orientation.repeat(1, TILES)], dim=1)

    def map(self, function: Callable[[Tensor], Tensor]) -> Tensor | LazyRows:
        """A tensor, unless the rows stay lazy."""
        return self if self.stays_lazy else function(self.materialise())

    def multiply(self, weight: Tensor) -> Tensor:
        """(B, O); the columns of a weight (O, F) for the tiles of a number are added up first."""
        on_features, on_tiles = weight.split_with_sizes([self.features.shape[1], ORIENTATION], dim=1)
        return product([self.features, self.orientation], [on_features, on_tiles @ _sum_of_tiles(weight)])


@dataclass(frozen=True, slots=True, eq=False)
class ChosenActions(LazyRows):
    """The candidates of chosen actions (B, A). Shapes as in `Observation`."""

    observer: Observer
    poses: Poses  # (B,) where they were chosen
    actions: Tensor  # (B,)
    channels: Tensor | None = None  # (B, D)
    cache: ProductCache | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(B, A)."""
        return len(self.actions), self.observer.candidate_width

    def __getitem__(self, which: Tensor) -> ChosenActions:
        """Some of them; indices may repeat."""
        channels = None if self.channels is None else self.channels[which]
        return ChosenActions(self.observer, self.poses[which], self.actions[which], channels, self.cache)

    def materialise(self) -> Tensor:
        """(B, A); zero for STOP."""
        return Observation(self.observer, self.poses, self.channels).chosen(self.actions)

    def map(self, function: Callable[[Tensor], Tensor]) -> SparseRows:
        """The rows of moves; STOP is zero."""
        moves = torch.nonzero(self.actions != STOP)[:, 0]
        rows = self if len(moves) == len(self.actions) else self[moves]
        if self.cache is not None:
            return SparseRows(rows, moves, len(self.actions))
        return SparseRows(function(rows.materialise()), moves, len(self.actions))

    def multiply(self, weight: Tensor) -> Tensor:
        """(B, O) the product with a weight (O, A)."""
        if self.cache is None:
            return self.materialise() @ weight.mT
        world, table = self.observer.world, self.observer.views_table
        at, width = self.poses.viewpoint, self.observer.view_width
        view = world.facing[at, self.actions]
        rows = at * VIEWS + view.clamp(min=0)
        products = self.cache.multiply(weight[:, : width - ORIENTATION], table.flatten(0, 1), rows)
        if self.observer.panorama_table is not None:
            ahead = self.observer.panorama_table
            products += self.cache.multiply(weight[:, width:], ahead, world.target[at, self.actions])
        products[view == NOWHERE] = 0
        on_orientation = weight[:, width - ORIENTATION : width] @ _sum_of_tiles(weight)
        return products.addmm_(
            world.direction(self.poses, self.actions).to(products.dtype), on_orientation.t()
        )


def _sum_of_tiles(like: Tensor) -> Tensor:
    """(128, 4) adds up the tiles of an orientation."""
    return torch.eye(4, dtype=like.dtype, device=like.device).repeat(TILES, 1)
