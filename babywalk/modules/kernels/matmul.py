"""Products of few rows with large weights on several threads.

MKL splits such a product badly: much of the time goes into preparing the weight for all threads. As a batch
of products with pieces of the weight, each thread works on its own pieces. Products with many rows or small
weights gain nothing and are computed directly.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

_MAX_ROWS = 320  # above, pieces are no faster
_MIN_WEIGHT = 1 << 19  # elements; below, pieces are no faster
_PIECES_PER_THREAD = 4
_MIN_OUTPUTS = 64  # of a piece


def product(parts: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
    """(B, O) the sum of the products of parts (B, I) with weights (O, I), one for each.

    Batches of them, (R, B, I) and (R, O, I), are multiplied directly.
    """
    pieces = _pieces(parts[0], weights[0])
    if pieces == 1:
        result = parts[0] @ weights[0].mT
        for part, weight in zip(parts[1:], weights[1:], strict=True):
            result.addmm_(part, weight.mT)
        return result
    first, *others = zip(parts, weights, strict=True)
    result = torch.bmm(*_batch(*first, pieces))
    for part, weight in others:
        result.baddbmm_(*_batch(part, weight, pieces))
    return result.transpose(0, 1).flatten(1)


def add_product(sums: Tensor, rows: Tensor, weight: Tensor) -> None:
    """Add the product of rows (B, I) with a weight (O, I) to sums (B, O)."""
    pieces = _pieces(rows, weight)
    if pieces == 1:
        sums.addmm_(rows, weight.mT)
    else:
        sums.view(len(sums), pieces, -1).add_(torch.bmm(*_batch(rows, weight, pieces)).transpose(0, 1))


def _batch(rows: Tensor, weight: Tensor, pieces: int) -> tuple[Tensor, Tensor]:
    """Rows for each piece (P, B, I), and the pieces (P, I, O / P)."""
    return rows.expand(pieces, -1, -1), weight.view(pieces, -1, weight.shape[1]).mT


def _pieces(rows: Tensor, weight: Tensor) -> int:
    """How many equal pieces to split a weight into; 1 where that is no faster."""
    threads = torch.get_num_threads()
    if weight.ndim > 2 or threads == 1 or weight.numel() < _MIN_WEIGHT or len(rows) > _MAX_ROWS:
        return 1
    outputs = weight.shape[0]
    most = min(_PIECES_PER_THREAD * threads, outputs // _MIN_OUTPUTS)
    return next(count for count in range(most, 0, -1) if outputs % count == 0) if most else 1
