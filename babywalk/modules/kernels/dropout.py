"""Dropout with masks that are cheap to draw.

torch draws a float per element and compares it. Here 8 random bits decide on an element, and one 64-bit draw
on eight elements. The rate is rounded to 1/256, and kept elements are scaled by the rounded rate.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from babywalk.modules.kernels.lazy_rows import LazyRows

_LEVELS = 1 << 8


def dropout_mask(shape: torch.Size, rate: float, *, dtype: torch.dtype, device: torch.device) -> Tensor:
    """0 for dropped elements, 1 / (1 - rate) for the others."""
    dropped = min(round(rate * _LEVELS), _LEVELS - 1)
    count = shape.numel()
    bits = torch.empty((count + 7) // 8, dtype=torch.int64, device=device).random_(-(2**63), None)
    # Compared directly into the float mask: a bool mask would be one more pass.
    mask = torch.empty(shape, dtype=dtype, device=device)
    torch.ge(bits.view(torch.int8)[:count].view(shape), dropped - _LEVELS // 2, out=mask)
    return mask.mul_(_LEVELS / (_LEVELS - dropped))


class FastDropout(nn.Dropout):
    """nn.Dropout, also for rows that are not materialised."""

    def forward(self, inputs: Any) -> Any:
        """A tensor, or lazy rows: see `LazyRows.map`."""
        if isinstance(inputs, LazyRows):
            return inputs.map(self._drop)
        return self._drop(inputs)

    def _drop(self, inputs: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return inputs
        return inputs * dropout_mask(inputs.shape, self.p, dtype=inputs.dtype, device=inputs.device)
