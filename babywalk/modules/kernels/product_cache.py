"""Products of weights with what walkers see, each made once for as long as nothing is learned.

Who walks without learning takes the same few edges of a house again and again. Without dropout, what a view
adds to a layer depends on nothing else: the product is kept, and looked up when the view is met again.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from babywalk.modules.kernels.matmul import product


class Product(Protocol):
    """Inputs (B, I) of a layer that know a better way to be multiplied than being laid out."""

    @property
    def shape(self) -> tuple[int, ...]:
        """As if it were laid out."""
        ...

    def through(self, weight: Tensor) -> Tensor:
        """(B, O) the product with a weight (O, I)."""
        ...


def through(inputs: Tensor | Product, weight: Tensor) -> Tensor:
    """(B, O) the product of inputs with a weight (O, I)."""
    return product([inputs], [weight]) if isinstance(inputs, Tensor) else inputs.through(weight)


class _Page:
    """Products with one weight. Shapes: M rows of the table, O outputs."""

    def __init__(self, weight: Tensor, rows: int) -> None:
        self.place = torch.full((rows,), -1)  # (M,) of each row's product; -1 for those not made yet
        self.made = weight.new_empty(1024, weight.shape[0])  # (room for more, O)
        self.count = 0

    def add(self, rows: Tensor, products: Tensor) -> None:
        """Keep new products."""
        needed = self.count + len(rows)
        while needed > len(self.made):
            self.made = torch.cat([self.made, torch.empty_like(self.made)])
        self.place[rows] = torch.arange(self.count, needed)
        self.made[self.count : needed] = products
        self.count = needed


class ProductCache:
    """Products of rows of tables with weights; valid until a weight changes."""

    def __init__(self) -> None:
        self._pages: dict[tuple[int, int, int], _Page] = {}

    def through(self, weight: Tensor, table: Tensor, rows: Tensor) -> Tensor:
        """(B, O) the products of rows (B,) of a table (M, I) with a weight (O, I)."""
        key = (weight.data_ptr(), len(weight), table.data_ptr())
        page = self._pages.setdefault(key, _Page(weight, len(table)))
        new = torch.unique(rows[page.place[rows] < 0])
        if len(new):
            page.add(new, table.index_select(0, new).to(weight.dtype) @ weight.mT)
        return page.made.index_select(0, page.place[rows])
