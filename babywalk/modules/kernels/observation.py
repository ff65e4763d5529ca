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

from babywalk.buildings.houses import NOWHERE
from babywalk.buildings.panorama import VIEWS
from babywalk.modules.kernels.matmul import product
from babywalk.modules.kernels.product_cache import ProductCache
from babywalk.navigation.observation import ORIENTATION, TILES, Observer
from babywalk.navigation.world import Poses

_AT_A_TIME = 5 << 17  # numbers that are laid out at once: those of eight panoramas of 2048 numbers per view


@dataclass(frozen=True, slots=True, eq=False)
class WalkersByViewpoint:
    """Walkers by the viewpoint they stand at, the most crowded first. Shapes: B walkers, U viewpoints."""

    viewpoints: Tensor  # (U,)
    crowd: Tensor  # (U,) how many stand there
    where: Tensor  # (B,) which of these viewpoints each walker stands at
    seat: Tensor  # (B,) its number among those who stand there

    @classmethod
    def of(cls, viewpoint: Tensor) -> WalkersByViewpoint:
        """Of walkers at viewpoints (B,)."""
        found, which, counts = torch.unique(viewpoint, return_inverse=True, return_counts=True)
        together = which.argsort(stable=True)
        seat = torch.empty_like(which)
        seat[together] = torch.arange(len(which)) - (counts.cumsum(0) - counts)[which[together]]
        order = counts.argsort(descending=True, stable=True)
        return cls(found[order], counts[order], order.argsort()[which], seat)

    def slots(self, rows: int) -> Slots:
        """For looking at viewpoints with so many numbers each, as many viewpoints at a time as fit."""
        some = max(1, _AT_A_TIME // max(1, rows))
        room = self.crowd[::some].repeat_interleave(some)[: len(self.crowd)]
        own = (room.cumsum(0) - room)[self.where] + self.seat
        who = torch.zeros(int(room.sum()), dtype=torch.int64)
        who[own] = torch.arange(len(own))
        return Slots(some, self.crowd[::some].tolist(), who, own)


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """A few viewpoints are looked at at a time, and each has as many slots as the most crowded of them.

    Shapes: B walkers, U viewpoints, T slots.
    """

    some: int  # viewpoints at a time
    crowds: list[int]  # slots of each viewpoint, for every so many of them
    who: Tensor  # (T,) is there; anyone where there is nobody
    own: Tensor  # (B,) the slot of each walker

    def spread(self, values: Tensor) -> Tensor:
        """Values (B, X) of the walkers in all slots (T, X)."""
        return values.index_select(0, self.who)

    def collected(self, values: Tensor) -> Tensor:
        """Values (T, X) of the slots for each walker (B, X)."""
        return values.index_select(0, self.own)

    def laid_out(
        self, shown: Shown, *values: Tensor
    ) -> Iterator[tuple[Tensor, ...]]:  # (u, S, D), and (u, g, X) of each
        """What is shown, a few viewpoints at a time, and values (T, X) of who sees it.

        What is shown lies there until the next is asked for.
        """
        firsts = range(0, shown.shape[0], self.some)
        counts = [min(self.some, shown.shape[0] - first) for first in firsts]
        sizes = [count * crowd for count, crowd in zip(counts, self.crowds, strict=True)]
        room = values[0].new_empty(self.some, *shown.shape[1:])  # for all of them: it stays in the cache
        for first, count, crowd, *parts in zip(
            firsts, counts, self.crowds, *(value.split_with_sizes(sizes) for value in values), strict=True
        ):
            shown.lay_out(first, room[:count])
            yield room[:count], *(part.view(count, crowd, part.shape[1]) for part in parts)


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """What viewpoints show: panoramas of a table (V, S, D), or S rows for each of a table (M, D) of views.

    Shapes: U viewpoints, S rows that are seen from each, D numbers in a row.
    """

    table: Tensor
    rows: Tensor  # (U,) or (U, S)

    @property
    def shape(self) -> tuple[int, ...]:
        """(U, S, D)."""
        return *self.rows.shape, *self.table.shape[1:]

    def lay_out(self, first: int, room: Tensor) -> None:
        """Fill a room (u, S, D) with what the viewpoints from the first on show.

        All are brought together, then widened: a thread widens those that it has brought, and looks at them
        next. Widened one by one, every panorama would be halved between two threads, and what one core has
        written is slow to read for another.
        """
        here = self.rows[first : first + len(room)].flatten()
        room.copy_(self.table.index_select(0, here).view(room.shape))


class _Look(Function):
    """Attention over what is shown: softmax of lean + rows . query, and the sum of rows by it.

    Shapes: B walkers, S rows that each of them sees, D numbers in a row.
    """

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,  # (B, D)
        lean: Tensor,  # (B, S)
        shown: Shown,
        slots: Slots,
    ) -> tuple[Tensor, Tensor]:  # seen (B, D), weights (B, S)
        query, lean = slots.spread(query), slots.spread(lean)
        seen, weights = torch.empty_like(query), torch.empty_like(lean)
        for here, wanted, leaning, sight, share in slots.laid_out(shown, query, lean, seen, weights):
            torch.softmax(torch.baddbmm(leaning, wanted, here.mT), dim=2, out=share)
            torch.bmm(share, here, out=sight)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(weights)
        ctx.shown, ctx.slots, ctx.width = shown, slots, query.shape[1]
        return slots.collected(seen), slots.collected(weights)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, on_seen: Tensor | None, on_weights: Tensor | None) -> tuple[Tensor | None, ...]:
        (weights,) = ctx.saved_tensors
        slots: Slots = ctx.slots
        if on_seen is None:
            on_seen = weights.new_zeros(len(slots.own), ctx.width)
        if on_weights is None:
            on_weights = weights.new_zeros(len(slots.own), weights.shape[1])
        on_seen, on_weights = slots.spread(on_seen), slots.spread(on_weights)
        on_query, on_lean = torch.empty_like(on_seen), torch.empty_like(weights)
        parts = slots.laid_out(ctx.shown, weights, on_seen, on_weights, on_query, on_lean)
        for here, share, on_sight, on_share, on_wanted, on_score in parts:
            pulled = torch.baddbmm(on_share, on_sight, here.mT).mul_(share)
            torch.addcmul(pulled, share, pulled.sum(dim=2, keepdim=True), value=-1, out=on_score)
            torch.bmm(on_score, here, out=on_wanted)
        return slots.collected(on_query), slots.collected(on_lean), None, None


class _Compare(Function):
    """Products of each walker's query with the S rows that it sees. Shapes as in `_Look`."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, shown: Shown, seen: int, slots: Slots) -> Tensor:
        query = slots.spread(query)
        found = query.new_empty(len(query), seen)
        for here, wanted, score in slots.laid_out(shown, query, found):
            torch.bmm(wanted, here.mT, out=score)
        ctx.shown, ctx.slots, ctx.width = shown, slots, query.shape[1]
        return slots.collected(found)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, back: Tensor) -> tuple[Tensor | None, ...]:
        back = ctx.slots.spread(back)
        on_query = back.new_empty(len(back), ctx.width)
        for here, on_score, on_wanted in ctx.slots.laid_out(ctx.shown, back, on_query):
            torch.bmm(on_score, here, out=on_wanted)
        return ctx.slots.collected(on_query), None, None, None


def _compared(query: Tensor, shown: Shown, seen: int, slots: Slots) -> Tensor:
    # torch does not type it:
    found: Tensor = _Compare.apply(query, shown, seen, slots)  # type: ignore[no-untyped-call]
    return found


def _untiling(like: Tensor) -> Tensor:
    """(128, 4) adds up the tiles of an orientation."""
    return torch.eye(4, dtype=like.dtype).repeat(TILES, 1)


class Observation:
    """The views and candidates of walkers. `channels` (B, D) says how much of each view feature they see.

    An album keeps products with what is seen; it is for walks from which nothing is learned.
    Shapes: B walkers, K actions, D numbers of a view's feature, F of a view (D + 128), A of a candidate.
    """

    def __init__(
        self,
        observer: Observer,
        poses: Poses,
        channels: Tensor | None = None,
        album: ProductCache | None = None,
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
    def gatherings(self) -> WalkersByViewpoint:
        """Who stands with whom."""
        return WalkersByViewpoint.of(self.poses.viewpoint)

    def look(self, query: Tensor) -> tuple[AttendedViews, Tensor]:
        """What is seen by attention with a query (B, F), and the weights (B, 36) of the views."""
        features, turned = self._split(query)
        four = self.observer.orientation_table[..., :4].to(query.dtype)
        around = four.index_select(0, self.poses.column)
        lean = torch.bmm(around, turned[..., None])[..., 0]
        # torch does not type it:
        seen, weights = _Look.apply(features, lean, self._panoramas, self._slots)  # type: ignore[no-untyped-call]
        facing = torch.bmm(weights[:, None], around)[:, 0]
        return AttendedViews(self._channelled(seen), facing, self.album is not None), weights

    def around(self, query: Tensor) -> Tensor:
        """(B, 36) the product of the feature of each view with a vector (B, D)."""
        return _compared(self._channelled(query), self._panoramas, VIEWS, self._slots)

    def compare_features(self, query: Tensor) -> Tensor:
        """(B, K) the product of each candidate's feature with a vector (B, D); zero where there is none."""
        rest = self.observer.candidate_width - self._width
        return self.compare(nn.functional.pad(query, (0, rest)))

    def compare(self, wanted: Tensor) -> Tensor:
        """(B, K) the product of each candidate with a vector (B, A); zero for STOP and where none is."""
        world, observer = self.observer.world, self.observer
        features, turned = self._split(wanted[:, : observer.view_width])
        leads = world.facing[self.poses.viewpoint] != NOWHERE
        most = max(1, int(leads.sum(dim=1).max()))
        neighbours = slice(1, 1 + most)  # STOP comes before them, and nothing after
        here, slots = self.gatherings.viewpoints, self.gatherings.slots(most * self._width)
        views = world.facing[here, neighbours].clamp(min=0)
        table = observer.views_table.flatten(0, 1)
        found = _compared(features, Shown(table, here[:, None] * VIEWS + views), most, slots)
        if observer.ahead_table is not None:
            targets, further = world.target[here, neighbours], wanted[:, observer.view_width :]
            found = found + _compared(further, Shown(observer.ahead_table, targets), most, slots)
        found = nn.functional.pad(found, (1, leads.shape[1] - 1 - most)).masked_fill(~leads, 0)
        directions = world.directions(self.poses).to(wanted.dtype)
        return found + torch.bmm(directions, turned[..., None])[..., 0]

    def candidates(self) -> Tensor:
        """(B, K, A) all of them, laid out; zero for STOP and where there is none."""
        candidates: Tensor = self.observer.candidates(self.poses)
        if self.channels is not None:
            candidates[..., : self._width] *= self.channels[:, None]
        return candidates

    def taken(self, actions: Tensor) -> ChosenActions:
        """The candidates that were chosen (B,)."""
        return ChosenActions(self.observer, self.poses, actions, self.channels, self.album)

    @cached_property
    def _panoramas(self) -> Shown:
        """All that is seen."""
        return Shown(self.observer.views_table, self.gatherings.viewpoints)

    @cached_property
    def _slots(self) -> Slots:
        """Who sees which panorama."""
        return self.gatherings.slots(VIEWS * self._width)

    @property
    def _width(self) -> int:
        return self.observer.view_width - ORIENTATION

    def _split(self, query: Tensor) -> tuple[Tensor, Tensor]:
        """Its part for features (B, D), and that for orientation (B, 4)."""
        features, tiled = query.split_with_sizes([self._width, ORIENTATION], dim=1)
        return self._channelled(features), tiled @ _untiling(query)

    def _channelled(self, features: Tensor) -> Tensor:
        return features if self.channels is None else features * self.channels


@dataclass(frozen=True, slots=True, eq=False)
class AttendedViews:
    """Views that walkers have mixed by attention, before they are laid out. Shapes as in `Observation`."""

    features: Tensor  # (B, D)
    facing: Tensor  # (B, 4) before it is tiled
    as_it_is: bool  # whether it is to be multiplied without being laid out

    @property
    def shape(self) -> tuple[int, int]:
        """(B, F) when laid out."""
        return len(self.features), self.features.shape[1] + ORIENTATION

    def numbers(self) -> Tensor:
        """(B, F) laid out."""
        return torch.cat([self.features, self.facing.repeat(1, TILES)], dim=1)

    def dropped(self, drop: nn.Module) -> Tensor | AttendedViews:
        """As a layer's input: laid out, with dropout; or as it is, where there is none."""
        return self if self.as_it_is else drop(self.numbers())

    def through(self, weight: Tensor) -> Tensor:
        """(B, O) the product with a weight (O, F): a column for all tiles of a number."""
        on_features, on_tiles = weight.split_with_sizes([self.features.shape[1], ORIENTATION], dim=1)
        return product([self.features, self.facing], [on_features, on_tiles @ _untiling(weight)])


@dataclass(frozen=True, slots=True, eq=False)
class ChosenActions:
    """Candidates that walkers have chosen, before they are laid out. Shapes as in `Observation`."""

    observer: Observer
    poses: Poses  # (B,) where they were chosen
    actions: Tensor  # (B,)
    channels: Tensor | None = None  # (B, D)
    album: ProductCache | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(B, A) when laid out."""
        return len(self.actions), self.observer.candidate_width

    def __getitem__(self, which: Tensor) -> ChosenActions:
        channels = None if self.channels is None else self.channels[which]
        return ChosenActions(self.observer, self.poses[which], self.actions[which], channels, self.album)

    def numbers(self) -> Tensor:
        """(B, A) laid out; zero for STOP."""
        shown: Tensor = self.observer.taken(self.poses, self.actions)
        if self.channels is not None:
            shown[:, : self.channels.shape[1]] *= self.channels
        return shown

    def dropped(self, drop: nn.Module) -> Tensor | ChosenActions:
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
        turned = weight[:, width - ORIENTATION : width] @ _untiling(weight)
        return found.addmm_(world.direction(self.poses, self.actions).to(found.dtype), turned.t())
