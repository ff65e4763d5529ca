"""The element-wise part of an LSTM step and its gradient, in place.

torch offers it only inside layers that also compute the matrix products, one step at a time.
Shapes: B rows, D hidden units; the gates (B, 4 D) are input, forget, cell and output, as torch orders them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

# Variants that write their result into a given tensor.
_sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
_tanh_backward = torch.ops.aten.tanh_backward.grad_input


def forward(
    gates: Tensor,  # (B, 4 D) pre-activations, replaced by the activations
    cell: Tensor,  # (B, D) before the step
    hidden: Tensor,  # (B, D) filled with the next hidden state
    after: Tensor,  # (B, D) filled with the next cell
    cell_tanh: Tensor,  # (B, D) filled with tanh of it
) -> None:
    """One step."""
    width = cell.shape[1]
    gates[:, : 2 * width].sigmoid_()
    gates[:, 2 * width : 3 * width].tanh_()
    gates[:, 3 * width :].sigmoid_()
    input_gate, forget_gate, update, output_gate = gates.chunk(4, dim=1)
    torch.mul(forget_gate, cell, out=after).addcmul_(input_gate, update)
    torch.tanh(after, out=cell_tanh)
    torch.mul(output_gate, cell_tanh, out=hidden)


def backward(
    gates: Tensor,  # (B, 4 D) activations
    cell: Tensor,  # (B, D) before the step
    cell_tanh: Tensor,  # (B, D) tanh of the cell after the step
    d_hidden: Tensor,  # (B, D) gradient
    d_cell: Tensor | None,  # (B, D) gradient
    out: Tensor,  # (B, 4 D) filled with the gradient of the pre-activations
) -> Tensor:  # (B, D) gradient of the cell before the step
    """The gradient of one step."""
    input_gate, forget_gate, update, output_gate = gates.chunk(4, dim=1)
    d_input, d_forget, d_update, d_output = out.chunk(4, dim=1)
    _sigmoid_backward(d_hidden * cell_tanh, output_gate, grad_input=d_output)
    d_after = d_hidden * output_gate
    _tanh_backward(d_after, cell_tanh, grad_input=d_after)
    if d_cell is not None:
        d_after += d_cell
    _sigmoid_backward(d_after * update, input_gate, grad_input=d_input)
    _sigmoid_backward(d_after * cell, forget_gate, grad_input=d_forget)
    _tanh_backward(d_after * input_gate, update, grad_input=d_update)
    return d_after.mul_(forget_gate)


class _Gates(Function):
    @staticmethod
    def forward(ctx: Any, sums: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        gates = sums.clone()
        hidden, after, cell_tanh = (torch.empty_like(cell) for _ in range(3))
        forward(gates, cell, hidden, after, cell_tanh)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(gates, cell, cell_tanh)
        return hidden, after

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, d_hidden: Tensor | None, d_cell: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None]:
        gates, cell, cell_tanh = ctx.saved_tensors
        out = torch.empty_like(gates)
        if d_hidden is None:
            d_hidden = torch.zeros_like(cell)
        before = backward(gates, cell, cell_tanh, d_hidden, d_cell, out)
        return out, before


def lstm_gates(sums: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """The next hidden state and cell (B, D) from pre-activations (B, 4 D) and the cell before the step."""
    hidden, after = _Gates.apply(sums, cell)  # type: ignore[no-untyped-call]  # torch does not type it
    return hidden, after
