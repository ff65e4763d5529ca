"""Dropout whose masks are cheap to draw.

torch draws a number per unit and compares it, one by one; here 8 bits decide on a unit, and one draw of 64
decides on eight of them. A share is met to 1 in 256, and what is kept is scaled by what is in truth kept.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

_STEPS = 1 << 8


def kept(shape: torch.Size, share: float, dtype: torch.dtype) -> Tensor:
    """A mask that drops a share of units: 0 for these, and for the others what keeps the mean."""
    dropped = min(round(share * _STEPS), _STEPS - 1)
    count = shape.numel()
    bits = torch.empty((count + 7) // 8, dtype=torch.int64).random_(-(2**63), None).view(torch.int8)
    # Compared into the mask itself: by way of truth values it is one slow pass more.
    stays = torch.ge(bits[:count].view(shape), dropped - _STEPS // 2, out=torch.empty(shape, dtype=dtype))
    return stays.mul_(_STEPS / (_STEPS - dropped))


class Dropout(nn.Dropout):
    """As torch's, in training and in evaluation."""

    def forward(self, units: Tensor) -> Tensor:
        """Some of them."""
        if not self.training or self.p == 0:
            return units
        return units * kept(units.shape, self.p, units.dtype)
