"""What walkers see, looked at without being laid out.

The views around one walker are 36 rows of the feature table, far more numbers than any layer makes of them.
They are read where they lie, once for all walkers who stand at the same viewpoint, a few viewpoints at a time
so that they stay in the processor's cache, and read again for the gradient instead of being kept.
An orientation is four numbers, tiled: it is enough to compare and mix the four.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from babywalk.buildings.geodesics import NOWHERE
from babywalk.buildings.panorama import VIEWS
from babywalk.navigation.observation import ORIENTATION, TILES, Observer
from babywalk.navigation.world import Poses
from babywalk.policies.parts.album import Album

_AT_A_TIME = 5 << 16  # numbers that are laid out at once: those of four panoramas of 2048 numbers per view


@dataclass(frozen=True, slots=True, eq=False)
class Gatherings:
    """Walkers by the viewpoint they stand at, the most crowded first.

    Shapes: B walkers, U viewpoints, G walkers at the most crowded of them.
    """

    viewpoints: Tensor  # (U,)
    crowds: list[int]  # (U,) how many stand there
    members: Tensor  # (U, G) who; B where there is nobody else

    @classmethod
    def of(cls, viewpoint: Tensor) -> Gatherings:
        """Of walkers at viewpoints (B,)."""
        found, which, counts = torch.unique(viewpoint, return_inverse=True, return_counts=True)
        order = counts.argsort(descending=True, stable=True)
        rank = torch.empty_like(order)
        rank[order] = torch.arange(len(order))
        row = rank[which]
        by_row = row.argsort(stable=True)
        crowds = counts[order]
        seat = torch.arange(len(row)) - (crowds.cumsum(0) - crowds)[row[by_row]]
        members = torch.full((len(found), int(crowds[0])), len(viewpoint))
        members[row[by_row], seat] = by_row
        return cls(found[order], crowds.tolist(), members)

    def laid_out(self, table: Tensor, rows: Tensor, dtype: torch.dtype) -> Iterator[tuple[Tensor, Tensor]]:
        """Members (u, g) and the rows (u, S) of a table (M, D) that they see, as (u, S, D)."""
        some = max(1, _AT_A_TIME // max(1, rows.shape[1] * table.shape[1]))
        for begin in range(0, len(self.viewpoints), some):
            here = rows[begin : begin + some]
            shown = table.index_select(0, here.flatten()).to(dtype)
            yield (
                self.members[begin : begin + some, : self.crowds[begin]],
                shown.view(*here.shape, table.shape[1]),
            )


def _of(values: Tensor, members: Tensor) -> Tensor:
    """Values (B, X) of members (u, g); anything where there is nobody."""
    chosen = values.index_select(0, members.flatten().clamp(max=len(values) - 1))
    return chosen.view(*members.shape, values.shape[1])


def _put(values: Tensor, members: Tensor, found: Tensor) -> None:
    """Values (B + 1, X) of members (u, g): the last row is nobody's."""
    values.index_copy_(0, members.flatten(), found.flatten(0, 1))


class _Look(Function):
    """Attention over the rows of a table: softmax of lean + rows . query, and the sum of rows by it.

    Shapes: B walkers, S rows that each of them sees, D numbers in a row.
    """

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,  # (B, D)
        lean: Tensor,  # (B, S)
        table: Tensor,  # (M, D)
        rows: Tensor,  # (U, S) of the table
        gatherings: Gatherings,
    ) -> tuple[Tensor, Tensor]:  # seen (B, D), weights (B, S)
        seen = query.new_empty(len(query) + 1, query.shape[1])
        weights = query.new_empty(len(query) + 1, lean.shape[1])
        for members, shown in gatherings.laid_out(table, rows, query.dtype):
            score = torch.bmm(_of(query, members), shown.transpose(1, 2)).add_(_of(lean, members))
            share = score.softmax(dim=2)
            _put(weights, members, share)
            _put(seen, members, torch.bmm(share, shown))
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(weights, table, rows)
        ctx.gatherings = gatherings
        return seen[:-1], weights[:-1]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, on_seen: Tensor | None, on_weights: Tensor | None) -> tuple[Tensor | None, ...]:
        weights, table, rows = ctx.saved_tensors
        if on_seen is None:
            on_seen = weights.new_zeros(len(weights) - 1, table.shape[1])
        on_query = on_seen.new_empty(len(weights), table.shape[1])
        on_lean = torch.empty_like(weights)
        for members, shown in ctx.gatherings.laid_out(table, rows, weights.dtype):
            share = _of(weights[:-1], members)
            on_share = torch.bmm(_of(on_seen, members), shown.transpose(1, 2))
            if on_weights is not None:
                on_share += _of(on_weights, members)
            on_share *= share
            on_score = on_share.sub_(share * on_share.sum(dim=2, keepdim=True))
            _put(on_lean, members, on_score)
            _put(on_query, members, torch.bmm(on_score, shown))
        return on_query[:-1], on_lean[:-1], None, None, None


class _Compare(Function):
    """Products of each walker's query with the rows that it sees. Shapes as in `_Look`."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, table: Tensor, rows: Tensor, gatherings: Gatherings) -> Tensor:
        found = query.new_empty(len(query) + 1, rows.shape[1])
        for members, shown in gatherings.laid_out(table, rows, query.dtype):
            _put(found, members, torch.bmm(_of(query, members), shown.transpose(1, 2)))
        ctx.save_for_backward(table, rows)
        ctx.gatherings = gatherings
        return found[:-1]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, back: Tensor) -> tuple[Tensor | None, ...]:
        table, rows = ctx.saved_tensors
        on_query = back.new_empty(len(back) + 1, table.shape[1])
        for members, shown in ctx.gatherings.laid_out(table, rows, back.dtype):
            _put(on_query, members, torch.bmm(_of(back, members), shown))
        return on_query[:-1], None, None, None


class Scene:
    """The views and candidates of walkers. `channels` (B, D) says how much of each view feature they see.

    An album keeps products with what is seen; it is for walks from which nothing is learned.
    Shapes: B walkers, K actions, D numbers of a view's feature, F of a view (D + 128), A of a candidate.
    """

    def __init__(
        self, observer: Observer, poses: Poses, channels: Tensor | None = None, album: Album | None = None
    ) -> None:
        self.observer = observer
        self.poses = poses
        self.channels = channels
        self.album = album

    def __len__(self) -> int:
        return len(self.poses.viewpoint)

    @property
    def possible(self) -> Tensor:
        """(B, K) bool, True where there is such an action."""
        possible: Tensor = self.observer.world.possible[self.poses.viewpoint]
        return possible

    @cached_property
    def gatherings(self) -> Gatherings:
        """Who stands with whom."""
        return Gatherings.of(self.poses.viewpoint)

    def look(self, query: Tensor) -> tuple[Tensor, Tensor]:
        """What is seen (B, F) by attention with a query (B, F), and the weights (B, 36) of the views."""
        features, turned = self._split(query)
        around = self.observer.orientation_table[self.poses.column][..., :4].to(query.dtype)
        lean = torch.bmm(around, turned[..., None])[..., 0]
        rows = self.gatherings.viewpoints[:, None] * VIEWS + torch.arange(VIEWS)
        seen, weights = _Look.apply(features, lean, self._table, rows, self.gatherings)  # type: ignore[no-untyped-call]
        return torch.cat(
            [self._channelled(seen), torch.bmm(weights[:, None], around)[:, 0].repeat(1, TILES)], dim=1
        ), weights

    def around(self, query: Tensor) -> Tensor:
        """(B, 36) the product of the feature of each view with a vector (B, D)."""
        rows = self.gatherings.viewpoints[:, None] * VIEWS + torch.arange(VIEWS)
        return self._compared(self._channelled(query), self._table, rows)

    def compare_features(self, query: Tensor) -> Tensor:
        """(B, K) the product of each candidate's feature with a vector (B, D); zero where there is none."""
        rest = self.observer.candidate_width - self._width
        return self.compare(torch.nn.functional.pad(query, (0, rest)))

    def compare(self, wanted: Tensor) -> Tensor:
        """(B, K) the product of each candidate with a vector (B, A); zero for STOP and where none is."""
        world, observer = self.observer.world, self.observer
        features, turned = self._split(wanted[:, : observer.view_width])
        here = self.gatherings.viewpoints
        views = world.facing[here]
        most = int((views != NOWHERE).sum(dim=1).max()) + 1  # neighbours come first
        rows = (here[:, None] * VIEWS + views.clamp(min=0))[:, :most]
        found = self._compared(features, self._table, rows)
        if observer.ahead_table is not None:
            further = wanted[:, observer.view_width :]
            found = found + self._compared(further, observer.ahead_table, world.target[here][:, :most])
        leads = world.facing[self.poses.viewpoint] != NOWHERE
        directions = world.directions(self.poses).to(wanted.dtype)
        found = nn.functional.pad(found, (0, leads.shape[1] - most)).masked_fill(~leads, 0)
        return found + torch.bmm(directions, turned[..., None])[..., 0]

    def _compared(self, query: Tensor, table: Tensor, rows: Tensor) -> Tensor:
        found: Tensor = _Compare.apply(query, table, rows, self.gatherings)  # type: ignore[no-untyped-call]
        return found

    def candidates(self) -> Tensor:
        """(B, K, A) all of them, laid out; zero for STOP and where there is none."""
        candidates: Tensor = self.observer.candidates(self.poses)
        if self.channels is not None:
            candidates[..., : self._width] *= self.channels[:, None]
        return candidates

    def taken(self, actions: Tensor) -> Taken:
        """The candidates that were chosen (B,)."""
        return Taken(self.observer, self.poses, actions, self.channels, self.album)

    @property
    def _table(self) -> Tensor:
        table: Tensor = self.observer.views_table
        return table.flatten(0, 1)

    @property
    def _width(self) -> int:
        return self.observer.view_width - ORIENTATION

    def _split(self, query: Tensor) -> tuple[Tensor, Tensor]:
        """Its part for features (B, D), and that for orientation (B, 4)."""
        features, tiled = query.split_with_sizes([self._width, ORIENTATION], dim=1)
        return self._channelled(features), tiled.view(-1, TILES, 4).sum(dim=1)

    def _channelled(self, features: Tensor) -> Tensor:
        return features if self.channels is None else features * self.channels


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """Candidates that walkers have chosen, before they are laid out. Shapes as in `Scene`."""

    observer: Observer
    poses: Poses  # (B,) where they were chosen
    actions: Tensor  # (B,)
    channels: Tensor | None = None  # (B, D)
    album: Album | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(B, A) when laid out."""
        return len(self.actions), self.observer.candidate_width

    def __getitem__(self, which: Tensor) -> Taken:
        channels = None if self.channels is None else self.channels[which]
        return Taken(self.observer, self.poses[which], self.actions[which], channels, self.album)

    def numbers(self) -> Tensor:
        """(B, A) laid out; zero for STOP."""
        shown: Tensor = self.observer.taken(self.poses, self.actions)
        if self.channels is not None:
            shown[:, : self.channels.shape[1]] *= self.channels
        return shown

    def dropped(self, drop: nn.Module) -> Tensor | Taken:
        """As a layer's input: laid out, with dropout; or as it is, where products are kept."""
        return drop(self.numbers()) if self.album is None else self

    def through(self, weight: Tensor) -> Tensor:
        """(B, O) the product with a weight (O, A)."""
        if self.album is None:
            return self.numbers() @ weight.mT
        world, table = self.observer.world, self.observer.views_table
        at, width = self.poses.viewpoint, self.observer.view_width
        view = world.facing[at, self.actions]
        rows = at * VIEWS + view.clamp(min=0)
        found = self.album.through(weight[:, : width - ORIENTATION], table.flatten(0, 1), rows)
        if self.observer.ahead_table is not None:
            ahead = self.observer.ahead_table
            found += self.album.through(weight[:, width:], ahead, world.target[at, self.actions])
        found[view == NOWHERE] = 0
        turned = weight[:, width - ORIENTATION : width].reshape(-1, TILES, 4).sum(dim=1)
        return found.addmm_(world.direction(self.poses, self.actions).to(found.dtype), turned.t())
