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

# What they make goes where it is wanted, without a copy.
_sigmoid_back = torch.ops.aten.sigmoid_backward.grad_input
_tanh_back = torch.ops.aten.tanh_backward.grad_input


def forth(
    gates: Tensor,  # (B, 4 D) sums, squashed in place
    cell: Tensor,  # (B, D) before the step
    hidden: Tensor,  # (B, D) filled with the next hidden state
    after: Tensor,  # (B, D) filled with the next cell
    squashed: Tensor,  # (B, D) filled with tanh of it
) -> None:
    """One step."""
    width = cell.shape[1]
    gates[:, : 2 * width].sigmoid_()
    gates[:, 2 * width : 3 * width].tanh_()
    gates[:, 3 * width :].sigmoid_()
    taken, kept, new, shown = gates.chunk(4, dim=1)
    torch.mul(kept, cell, out=after).addcmul_(taken, new)
    torch.tanh(after, out=squashed)
    torch.mul(shown, squashed, out=hidden)


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
    _sigmoid_back(on_hidden * squashed, shown, grad_input=on_shown)
    on_after = on_hidden * shown
    _tanh_back(on_after, squashed, grad_input=on_after)
    if on_cell is not None:
        on_after += on_cell
    _sigmoid_back(on_after * new, taken, grad_input=on_taken)
    _sigmoid_back(on_after * cell, kept, grad_input=on_kept)
    _tanh_back(on_after * taken, new, grad_input=on_new)
    return on_after.mul_(kept)


class _Gated(Function):
    @staticmethod
    def forward(ctx: Any, sums: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        gates = sums.clone()
        hidden, after, squashed = (torch.empty_like(cell) for _ in range(3))
        forth(gates, cell, hidden, after, squashed)
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
