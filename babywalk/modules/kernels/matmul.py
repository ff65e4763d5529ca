"""Products of few rows with large weights, which walkers make at every move and texts at every word.

As one product, all threads share the work on the whole weight, and with few rows much of the time goes into
laying the weight out for all. As a batch of products with pieces of the weight, every thread works on pieces
of its own: twice as quick for the last walkers who are on their way, 1.1 to 1.5 times as quick for up to 300.
Larger products gain nothing, nor do small weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

_MOST_ROWS = 320  # that gain
_LARGE = 1 << 19  # numbers of a weight that gains
_PIECES = 4  # of a weight per thread
_NARROWEST = 64  # outputs of a piece


def product(parts: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
    """(B, O) the sum of the products of parts (B, I) with weights (O, I), one for each.

    Stacks of them, (R, B, I) and (R, O, I), are multiplied as they are.
    """
    pieces = _pieces(parts[0], weights[0])
    if pieces == 1:
        made = parts[0] @ weights[0].mT
        for part, weight in zip(parts[1:], weights[1:], strict=True):
            made.addmm_(part, weight.mT)
        return made
    first, *others = zip(parts, weights, strict=True)
    made = torch.bmm(*_batch(*first, pieces))
    for part, weight in others:
        made.baddbmm_(*_batch(part, weight, pieces))
    return made.transpose(0, 1).flatten(1)


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
    """Some for each thread, all of one size; 1 where that gains nothing."""
    threads = torch.get_num_threads()
    if weight.ndim > 2 or threads == 1 or weight.numel() < _LARGE or len(rows) > _MOST_ROWS:
        return 1
    outputs = weight.shape[0]
    most = min(_PIECES * threads, outputs // _NARROWEST)
    return next(count for count in range(most, 0, -1) if outputs % count == 0) if most else 1
