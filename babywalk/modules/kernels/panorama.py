"""Attention and dot products over table rows that walkers at the same viewpoint share.

The views around a walker are 36 rows of the feature table, more data than any layer makes of them. They are
read from the table once for all walkers at a viewpoint, a few viewpoints at a time so that they stay in the
processor's cache, and read again in the backward pass instead of being stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

_CHUNK = 5 << 17  # elements that are read at once: eight panoramas of 2,048 features per view


@dataclass(frozen=True, slots=True, eq=False)
class WalkersByViewpoint:
    """Walkers grouped by viewpoint, the largest group first. Shapes: B walkers, U viewpoints."""

    viewpoints: Tensor  # (U,)
    sizes: Tensor  # (U,) walkers at each
    group: Tensor  # (B,) which of these viewpoints each walker is at
    rank: Tensor  # (B,) its number within the group

    @classmethod
    def of(cls, viewpoint: Tensor) -> WalkersByViewpoint:
        """Of walkers at viewpoints (B,)."""
        found, which, counts = torch.unique(viewpoint, return_inverse=True, return_counts=True)
        together = which.argsort(stable=True)
        rank = torch.empty_like(which)
        number = torch.arange(len(which), device=which.device)
        rank[together] = number - (counts.cumsum(0) - counts)[which[together]]
        order = counts.argsort(descending=True, stable=True)
        return cls(found[order], counts[order], order.argsort()[which], rank)

    def slots(self, elements: int) -> Slots:
        """For reading so many table elements per viewpoint: chunks of viewpoints that fit in the cache."""
        chunk = max(1, _CHUNK // max(1, elements))
        room = self.sizes[::chunk].repeat_interleave(chunk)[: len(self.sizes)]
        slot = (room.cumsum(0) - room)[self.group] + self.rank
        walker = torch.zeros(int(room.sum()), dtype=torch.int64, device=slot.device)
        walker[slot] = torch.arange(len(slot), device=slot.device)
        return Slots(chunk, self.sizes[::chunk].tolist(), walker, slot)


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """Chunks of viewpoints; within a chunk each viewpoint has as many slots as the largest group.

    Shapes: B walkers, U viewpoints, T slots.
    """

    chunk: int  # viewpoints per chunk
    sizes: list[int]  # slots per viewpoint, for each chunk
    walker: Tensor  # (T,) the walker in each slot; any walker in an empty one
    slot: Tensor  # (B,) the slot of each walker

    def scatter(self, values: Tensor) -> Tensor:
        """(T, X) values (B, X) of the walkers by slot."""
        return values.index_select(0, self.walker)

    def gather(self, values: Tensor) -> Tensor:
        """(B, X) values (T, X) by walker."""
        return values.index_select(0, self.slot)

    def chunks(
        self, table: TableRows, *values: Tensor
    ) -> Iterator[tuple[Tensor, ...]]:  # (u, S, D), and (u, g, X) of each
        """The table rows of each chunk, and views of values (T, X) by slot.

        The table rows are overwritten by the next chunk's.
        """
        firsts = range(0, table.shape[0], self.chunk)
        counts = [min(self.chunk, table.shape[0] - first) for first in firsts]
        sizes = [count * size for count, size in zip(counts, self.sizes, strict=True)]
        buffer = values[0].new_empty(self.chunk, *table.shape[1:])
        for first, count, size, *parts in zip(
            firsts, counts, self.sizes, *(value.split_with_sizes(sizes) for value in values), strict=True
        ):
            table.read(first, buffer[:count])
            yield buffer[:count], *(part.view(count, size, part.shape[1]) for part in parts)


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """Rows of a table (V, S, D) by viewpoint, or S rows per viewpoint of a table (M, D).

    Shapes: U viewpoints, S rows for each, D features of a row.
    """

    table: Tensor
    rows: Tensor  # (U,) or (U, S)

    @property
    def shape(self) -> tuple[int, ...]:
        """(U, S, D)."""
        return *self.rows.shape, *self.table.shape[1:]

    def read(self, first: int, buffer: Tensor) -> None:
        """Fill a buffer (u, S, D), from the first viewpoint on.

        First gathered, then converted to the buffer's dtype: so each thread converts what it has gathered.
        """
        here = self.rows[first : first + len(buffer)].flatten()
        buffer.copy_(self.table.index_select(0, here).view(buffer.shape))


def attend(query: Tensor, bias: Tensor, table: TableRows, slots: Slots) -> tuple[Tensor, Tensor]:
    """Attention of walkers over the rows of their viewpoint: softmax(bias + rows . query).

    From queries (B, D) and biases (B, S) to the attended rows (B, D) and the weights (B, S).
    """
    # torch does not type it:
    attended, weights = _Attend.apply(query, bias, table, slots)  # type: ignore[no-untyped-call]
    return attended, weights


def dot_products(query: Tensor, table: TableRows, slots: Slots) -> Tensor:
    """(B, S) the dot products of each walker's query (B, D) with the rows of its viewpoint."""
    # torch does not type it:
    products: Tensor = _DotProducts.apply(query, table, slots)  # type: ignore[no-untyped-call]
    return products


class _Attend(Function):
    """Shapes: B walkers, S rows of each viewpoint, D features of a row."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,  # (B, D)
        bias: Tensor,  # (B, S)
        table: TableRows,
        slots: Slots,
    ) -> tuple[Tensor, Tensor]:  # attended (B, D), weights (B, S)
        query, bias = slots.scatter(query), slots.scatter(bias)
        attended, weights = torch.empty_like(query), torch.empty_like(bias)
        for rows, q, b, a, w in slots.chunks(table, query, bias, attended, weights):
            torch.softmax(torch.baddbmm(b, q, rows.mT), dim=2, out=w)
            torch.bmm(w, rows, out=a)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(weights)
        ctx.table, ctx.slots, ctx.width = table, slots, query.shape[1]
        return slots.gather(attended), slots.gather(weights)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_attended: Tensor | None, d_weights: Tensor | None) -> tuple[Tensor | None, ...]:
        (weights,) = ctx.saved_tensors
        slots: Slots = ctx.slots
        if d_attended is None:
            d_attended = weights.new_zeros(len(slots.slot), ctx.width)
        if d_weights is None:
            d_weights = weights.new_zeros(len(slots.slot), weights.shape[1])
        d_attended, d_weights = slots.scatter(d_attended), slots.scatter(d_weights)
        d_query, d_score = torch.empty_like(d_attended), torch.empty_like(weights)
        parts = slots.chunks(ctx.table, weights, d_attended, d_weights, d_query, d_score)
        for rows, w, da, dw, dq, ds in parts:
            weighted = torch.baddbmm(dw, da, rows.mT).mul_(w)
            torch.addcmul(weighted, w, weighted.sum(dim=2, keepdim=True), value=-1, out=ds)
            torch.bmm(ds, rows, out=dq)
        return slots.gather(d_query), slots.gather(d_score), None, None


class _DotProducts(Function):
    """Shapes as in `_Attend`."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, table: TableRows, slots: Slots) -> Tensor:
        query = slots.scatter(query)
        products = query.new_empty(len(query), table.shape[1])
        for rows, q, p in slots.chunks(table, query, products):
            torch.bmm(q, rows.mT, out=p)
        ctx.table, ctx.slots, ctx.width = table, slots, query.shape[1]
        return slots.gather(products)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_products: Tensor) -> tuple[Tensor | None, ...]:
        d_products = ctx.slots.scatter(d_products)
        d_query = d_products.new_empty(len(d_products), ctx.width)
        for rows, dp, dq in ctx.slots.chunks(ctx.table, d_products, d_query):
            torch.bmm(dp, rows, out=dq)
        return ctx.slots.gather(d_query), None, None
