"""NumPy arrays and torch tensors through the same code: the few operations whose names differ."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

# An array of either library. Stepping uses indexing and arithmetic, which both share.
Array = Any


def namespace(array: Array) -> Any:
    """The library of an array: numpy, or torch where it is a tensor."""
    torch = sys.modules.get("torch")  # a tensor can only come from a torch that is loaded
    return torch if torch is not None and isinstance(array, torch.Tensor) else np


def rows(table: Array, index: Array) -> Array:
    """table[index] for an index of one axis, the fast way of each library."""
    return table[index] if namespace(table) is np else table.index_select(0, index)


def cells(table: Array, row: Array, column: Array) -> Array:
    """table[row, column] for indices of one axis, likewise."""
    if namespace(table) is np:
        return table[row, column]
    return table.flatten(0, 1).index_select(0, row * table.shape[1] + column)
