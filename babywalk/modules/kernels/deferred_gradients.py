"""Layers whose weight gradients are computed once per backward pass instead of once per use.

A rollout uses the decoder's layers at every move. The gradient of a weight is a sum over all uses: one
product of two small matrices and one pass over the whole weight for each. Inside `deferred_gradients` each
use only stores its inputs and output gradients; after the last, one large product computes the sum. Elsewhere
the layers compute as torch's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from babywalk.modules.kernels.lazy_rows import LazyRows, SparseRows, materialised, multiply
from babywalk.modules.kernels.lstm_gates import lstm_gates
from babywalk.modules.kernels.matmul import product
from babywalk.modules.layers import Linear, LSTMCell


class GradientAccumulator:
    """The uses of a matrix (O, I), or of a batch of them (R, O, I), in y = x W^T + b.

    An input x (B, I), or (R, B, I) for a batch, may come in several parts along I. One part may be None:
    zeros, which are not multiplied.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.weight = weight.detach()
        self.bias = None if bias is None else bias.detach()
        self.uses: list[tuple[tuple[Tensor | None, ...], Tensor]] = []
        # An input of every use, so that autograd runs its backward after those of all uses.
        # torch does not type it:
        self.anchor: Tensor = _Anchor.apply(self, weight, bias)  # type: ignore[no-untyped-call]

    def use(self, *parts: Tensor | None) -> Tensor:
        """The output (..., B, O) for the parts of an input."""
        # torch does not type it:
        output: Tensor = _Use.apply(self, self.anchor, *parts)  # type: ignore[no-untyped-call]
        return output

    def gradients(self) -> tuple[Tensor, Tensor | None]:
        """The gradients of weight and bias from all uses, which are then forgotten."""
        # Uses without some part come last: the rows that have it are the first rows of the output gradient.
        parts, d_outputs = zip(
            *sorted(self.uses, key=lambda use: any(part is None for part in use[0])), strict=True
        )
        self.uses = []
        d_output = torch.cat(d_outputs, dim=-2)
        d_weight = torch.empty_like(self.weight)
        for uses, columns in zip(zip(*parts, strict=True), _columns(d_weight, parts[0]), strict=True):
            given = [part for part in uses if part is not None]
            if not given:
                columns.zero_()
                continue
            inputs = torch.cat(given, dim=-2)
            torch.matmul(d_output.narrow(-2, 0, inputs.shape[-2]).mT, inputs, out=columns)
        return d_weight, None if self.bias is None else d_output.sum(dim=-2)


class _Anchor(Function):
    """Connects the parameters with the accumulator of their uses."""

    @staticmethod
    def forward(
        ctx: Any,
        accumulator: GradientAccumulator,
        weight: Tensor,
        bias: Tensor | None,  # noqa: ARG004
    ) -> Tensor:
        ctx.accumulator = accumulator
        return weight.new_empty(0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, _: Tensor) -> tuple[Tensor | None, ...]:
        return None, *ctx.accumulator.gradients()


class _Use(Function):
    """One use: computes the gradients of its inputs, and stores the rest."""

    @staticmethod
    def forward(
        ctx: Any,
        accumulator: GradientAccumulator,
        anchor: Tensor,  # noqa: ARG004
        *parts: Tensor | None,
    ) -> Tensor:
        ctx.accumulator = accumulator
        ctx.save_for_backward(*parts)
        columns = zip(parts, _columns(accumulator.weight, parts), strict=True)
        output = product(*zip(*(pair for pair in columns if pair[0] is not None), strict=True))
        return output if accumulator.bias is None else output.add_(accumulator.bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_output: Tensor) -> tuple[Tensor | None, ...]:
        accumulator, parts = ctx.accumulator, ctx.saved_tensors
        accumulator.uses.append((parts, d_output))
        columns = zip(_columns(accumulator.weight, parts), ctx.needs_input_grad[2:], strict=True)
        d_parts = (product([d_output], [weight.mT]) if needed else None for weight, needed in columns)
        return None, d_output.new_empty(0), *d_parts


class FastLinear(Linear):
    """`Linear` without concatenation, with deferred gradients."""

    accumulator: GradientAccumulator | None = None
    transposed_accumulator: GradientAccumulator | None = None

    def defer(self) -> None:
        """Defer gradients from now on."""
        self.accumulator = GradientAccumulator(self.weight, self.bias)
        self.transposed_accumulator = GradientAccumulator(self.weight.mT)

    def stop_deferring(self) -> None:
        """Defer no more; the uses so far keep their accumulator alive until their backward pass."""
        self.accumulator = self.transposed_accumulator = None

    def forward(self, *inputs: Tensor | LazyRows) -> Tensor:
        """(B, O)."""
        parts = [materialised(part) for part in inputs]
        if self.accumulator is not None:
            return self.accumulator.use(*parts)
        output = product(parts, _columns(self.weight, parts))
        return output if self.bias is None else output + self.bias

    def transposed(self, vectors: Tensor) -> Tensor:
        """(B, I) W^T v of vectors (B, O): its dot product with any x is that of v with W x."""
        if self.transposed_accumulator is not None:
            return self.transposed_accumulator.use(vectors)
        return product([vectors], [self.weight.mT])


class FastLSTMCell(LSTMCell):
    """`LSTMCell` without concatenation, with deferred gradients."""

    accumulators: tuple[GradientAccumulator, GradientAccumulator] | None = None

    def defer(self) -> None:
        """Defer gradients from now on."""
        self.accumulators = (
            GradientAccumulator(self.weight_ih, self.bias_ih),
            GradientAccumulator(self.weight_hh, self.bias_hh),
        )

    def stop_deferring(self) -> None:
        """Defer no more."""
        self.accumulators = None

    def forward(  # type: ignore[override]  # also takes lazy rows
        self, inputs: Sequence[Tensor | LazyRows], hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The next hidden state and cell (B, D)."""
        parts = [_dense(part) for part in inputs]
        if self.accumulators is not None:
            of_inputs, of_hidden = self.accumulators
            given = [part if part is None else materialised(part) for part in parts]
            return lstm_gates(of_inputs.use(*given) + of_hidden.use(hidden), cell)
        sums = product([hidden], [self.weight_hh]) + (self.bias_hh + self.bias_ih)
        for part, weight in zip(parts, _columns(self.weight_ih, parts), strict=True):
            if part is not None:
                sums += multiply(part, weight)
        return lstm_gates(sums, cell)


@contextmanager
def deferred_gradients(network: nn.Module) -> Iterator[None]:
    """Inside, the layers of a network defer the gradients of their weights, if gradients are enabled."""
    layers = [layer for layer in network.modules() if isinstance(layer, (FastLinear, FastLSTMCell))]
    if not torch.is_grad_enabled():
        layers = []
    for layer in layers:
        layer.defer()
    try:
        yield
    finally:
        for layer in layers:
            layer.stop_deferring()


def _dense(part: Tensor | LazyRows) -> Tensor | LazyRows | None:
    """The given rows of sparse ones if that is all of them; None if it is none of them."""
    if not isinstance(part, SparseRows):
        return part
    given = len(part.places)
    if given == 0:
        return None
    return part.given if given == part.count else part


def _columns(matrix: Tensor, parts: Sequence[Tensor | LazyRows | None]) -> list[Tensor]:
    """The columns of a matrix (O, I) for each part; a part of None has those left over."""
    widths = [0 if part is None else part.shape[-1] for part in parts]
    left = matrix.shape[-1] - sum(widths)
    sizes = [left if part is None else width for part, width in zip(parts, widths, strict=True)]
    return list(matrix.split_with_sizes(sizes, dim=-1))
