"""NumPy arrays and torch tensors through the same code: the few operations whose names differ.

What is made from an array has its library and its device.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = Any  # a NumPy array or a torch tensor


def namespace(array: Array) -> Any:
    """The library of an array: numpy or torch."""
    torch = sys.modules.get("torch")  # not imported here: NumPy users need not have it
    return torch if torch is not None and isinstance(array, torch.Tensor) else np


def rows(table: Array, index: Array) -> Array:
    """table[index] for a one-dimensional index, by the fastest operation of each library."""
    return table[index] if namespace(table) is np else table.index_select(0, index)


def cells(table: Array, row: Array, column: Array) -> Array:
    """table[row, column] for one-dimensional indices, by the fastest operation of each library."""
    if namespace(table) is np:
        return table[row, column]
    return table.flatten(0, 1).index_select(0, row * table.shape[1] + column)


def empty(shape: tuple[int, ...], like: Array) -> Array:
    """An uninitialised array with the library, dtype and device of another."""
    return np.empty(shape, dtype=like.dtype) if namespace(like) is np else like.new_empty(shape)


def zeros(shape: tuple[int, ...], like: Array) -> Array:
    """An array of zeros with the library, dtype and device of another."""
    return np.zeros(shape, dtype=like.dtype) if namespace(like) is np else like.new_zeros(shape)


def row_numbers(array: Array) -> Array:
    """(B,) 0, 1, ... for the rows of an array (B, ...)."""
    if namespace(array) is np:
        return np.arange(len(array))
    return namespace(array).arange(len(array), device=array.device)


def to_device(array: Array, device: Any) -> Array:
    """The array as a torch tensor on a device; a NumPy array, memory-mapped or not, is copied."""
    import torch

    return array.to(device) if isinstance(array, torch.Tensor) else torch.tensor(array, device=device)


def to_numpy(array: Array) -> NDArray[Any]:
    """The array as a NumPy array; a tensor is fetched from its device."""
    return np.asarray(array if namespace(array) is np else array.cpu())
