"""The gates of an LSTM, forth and back: what stands between the matrix products of one step and the next.

Written out, because torch offers it only as part of layers that also make the products, one step at a time.
Shapes: B rows, D hidden units; the gates (B, 4 D) are input, forget, cell and output, as torch orders them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

_sigmoid_back = torch.ops.aten.sigmoid_backward.default
_tanh_back = torch.ops.aten.tanh_backward.default


def forth(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The next hidden state, cell and tanh of it; the gates, given as sums, are squashed in place."""
    width = cell.shape[1]
    gates[:, : 2 * width].sigmoid_()
    gates[:, 2 * width : 3 * width].tanh_()
    gates[:, 3 * width :].sigmoid_()
    taken, kept, new, shown = gates.chunk(4, dim=1)
    after = (kept * cell).addcmul_(taken, new)
    squashed = after.tanh()
    return shown * squashed, after, squashed


def back(
    gates: Tensor,  # (B, 4 D) squashed
    cell: Tensor,  # (B, D) before the step
    squashed: Tensor,  # (B, D) tanh of the cell after it
    on_hidden: Tensor,  # (B, D) gradient
    on_cell: Tensor | None,  # (B, D) gradient
    out: Tensor,  # (B, 4 D) filled with the gradient of the gates' sums
) -> Tensor:  # (B, D) gradient of the cell before
    """The gradient of one step."""
    taken, kept, new, shown = gates.chunk(4, dim=1)
    on_taken, on_kept, on_new, on_shown = out.chunk(4, dim=1)
    on_shown.copy_(_sigmoid_back(on_hidden * squashed, shown))
    on_after: Tensor = _tanh_back(on_hidden * shown, squashed)
    if on_cell is not None:
        on_after += on_cell
    on_taken.copy_(_sigmoid_back(on_after * new, taken))
    on_kept.copy_(_sigmoid_back(on_after * cell, kept))
    on_new.copy_(_tanh_back(on_after * taken, new))
    return on_after.mul_(kept)


class _Gated(Function):
    @staticmethod
    def forward(ctx: Any, sums: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        gates = sums.clone()
        hidden, after, squashed = forth(gates, cell)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(gates, cell, squashed)
        return hidden, after

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, on_hidden: Tensor | None, on_cell: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None]:
        gates, cell, squashed = ctx.saved_tensors
        out = torch.empty_like(gates)
        if on_hidden is None:
            on_hidden = torch.zeros_like(cell)
        before = back(gates, cell, squashed, on_hidden, on_cell, out)
        return out, before


def gated(sums: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """The next hidden state and cell (B, D) from the gates' sums (B, 4 D) and the cell before."""
    hidden, after = _Gated.apply(sums, cell)  # type: ignore[no-untyped-call]  # torch does not type it
    return hidden, after
