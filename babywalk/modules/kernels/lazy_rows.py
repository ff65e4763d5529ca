"""Rows of features that are multiplied with a weight without being materialised, and a cache of such
products.

Without gradients and dropout, the product of a weight with a view or a candidate depends on the viewpoint
alone. Walkers pass the same few viewpoints of a house again and again, so the products are kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from babywalk.modules.kernels.matmul import product


class LazyRows(ABC):
    """Inputs (B, I) of a layer. Shapes: B rows, I features, O outputs."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(B, I)."""

    @abstractmethod
    def materialise(self) -> Tensor:
        """(B, I) as a tensor."""

    @abstractmethod
    def multiply(self, weight: Tensor) -> Tensor:
        """(B, O) the product with a weight (O, I), without gradients."""

    @abstractmethod
    def map(self, function: Callable[[Tensor], Tensor]) -> Tensor | LazyRows:
        """The rows after an element-wise function with f(0) = 0, such as dropout.

        Rows that use a product cache stay as they are: they exist only where dropout does nothing.
        """


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows(LazyRows):
    """Rows of which some are given and all others are zero. Shapes: B rows, G given, I features."""

    given: Tensor | LazyRows  # (G, I)
    places: Tensor  # (G,) their row numbers
    count: int  # B

    @property
    def shape(self) -> tuple[int, int]:
        """(B, I)."""
        return self.count, self.given.shape[1]

    def materialise(self) -> Tensor:
        """(B, I)."""
        return self._scatter(materialised(self.given))

    def multiply(self, weight: Tensor) -> Tensor:
        """(B, O)."""
        return self._scatter(multiply(self.given, weight))

    def map(self, function: Callable[[Tensor], Tensor]) -> SparseRows:
        """Applied to the given rows."""
        given = self.given.map(function) if isinstance(self.given, LazyRows) else function(self.given)
        return SparseRows(given, self.places, self.count)

    def _scatter(self, rows: Tensor) -> Tensor:
        return rows.new_zeros(self.count, rows.shape[1]).index_copy(0, self.places, rows)


def materialised(inputs: Tensor | LazyRows) -> Tensor:
    """(B, I) as a tensor."""
    return inputs if isinstance(inputs, Tensor) else inputs.materialise()


def multiply(inputs: Tensor | LazyRows, weight: Tensor) -> Tensor:
    """(B, O) the product of inputs (B, I) with a weight (O, I)."""
    return product([inputs], [weight]) if isinstance(inputs, Tensor) else inputs.multiply(weight)


class _Products:
    """Products with one weight. Shapes: M rows of a table, O outputs."""

    def __init__(self, weight: Tensor, rows: int) -> None:
        self.place = torch.full(
            (rows,), -1, device=weight.device
        )  # (M,) of each row's product; -1: not computed
        self.products = weight.new_empty(1024, weight.shape[0])  # (capacity, O)
        self.count = 0

    def add(self, rows: Tensor, products: Tensor) -> None:
        """Keep new products."""
        needed = self.count + len(rows)
        while needed > len(self.products):
            self.products = torch.cat([self.products, torch.empty_like(self.products)])
        self.place[rows] = torch.arange(self.count, needed, device=rows.device)
        self.products[self.count : needed] = products
        self.count = needed


class ProductCache:
    """Products of table rows with weights; valid until a weight changes."""

    def __init__(self) -> None:
        self._by_weight: dict[tuple[int, int, int], _Products] = {}

    def multiply(self, weight: Tensor, table: Tensor, rows: Tensor) -> Tensor:
        """(B, O) the products of rows (B,) of a table (M, I) with a weight (O, I)."""
        key = (weight.data_ptr(), len(weight), table.data_ptr())
        kept = self._by_weight.setdefault(key, _Products(weight, len(table)))
        new = torch.unique(rows[kept.place[rows] < 0])
        if len(new):
            kept.add(new, table.index_select(0, new).to(weight.dtype) @ weight.mT)
        return kept.products.index_select(0, kept.place[rows])
