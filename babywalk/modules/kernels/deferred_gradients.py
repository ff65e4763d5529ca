"""Layers that are used at every move of a walk, and whose weights learn in one go.

The gradient of a weight is a sum over all uses of its layer: one product of two small matrices and one sweep
over the whole weight for each. Inside `deferred_gradients` every use only
writes down what came in and what came back;
when the last has come back, a single large product makes the sum. Elsewhere these are torch's own layers,
with the same parameters under the same names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from babywalk.modules.kernels.lstm_gates import gated
from babywalk.modules.kernels.matmul import product
from babywalk.modules.kernels.product_cache import Product, through


class GradientAccumulator:
    """The uses of a matrix (O, I), or of a stack of them (R, O, I): y = x W^T + b.

    An input x (B, I) may come in several parts side by side, and one part of it may be None, which is all
    zeros and costs nothing; for a stack it is (R, B, I).
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.weight = weight.detach()
        self.bias = None if bias is None else bias.detach()
        self.uses: list[tuple[tuple[Tensor | None, ...], Tensor]] = []
        # Every use takes it as an input, so that autograd closes the ledger after it has gone through all.
        # torch does not type it:
        self.opened: Tensor = _Open.apply(self, weight, bias)  # type: ignore[no-untyped-call]

    def use(self, *parts: Tensor | Product | None) -> Tensor:
        """The output (..., B, O) for inputs that make up I together. Where one learns, they are laid out."""
        # torch does not type it:
        made: Tensor = _Use.apply(self, self.opened, *parts)  # type: ignore[no-untyped-call]
        return made

    def pieces(self, parts: Sequence[Tensor | None]) -> list[Tensor]:
        """The columns of the weight that each part meets."""
        return _columns(self.weight, parts)

    def close(self) -> tuple[Tensor, Tensor | None]:
        """The gradients of weight and bias."""
        # Uses that lack a part come last: what the others gave stands in the first rows of the gradient.
        parts, back = zip(
            *sorted(self.uses, key=lambda use: any(part is None for part in use[0])), strict=True
        )
        self.uses = []
        gradient = torch.cat(back, dim=-2)
        found = torch.empty_like(self.weight)
        for uses, piece in zip(zip(*parts, strict=True), _columns(found, parts[0]), strict=True):
            given = [part for part in uses if part is not None]
            if not given:
                piece.zero_()
                continue
            inputs = torch.cat(given, dim=-2)
            torch.matmul(gradient.narrow(-2, 0, inputs.shape[-2]).mT, inputs, out=piece)
        return found, None if self.bias is None else gradient.sum(dim=-2)


class _Open(Function):
    """From the parameters to the ledger of their uses."""

    @staticmethod
    def forward(ctx: Any, ledger: GradientAccumulator, weight: Tensor, bias: Tensor | None) -> Tensor:  # noqa: ARG004
        ctx.ledger = ledger
        return weight.new_empty(0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, _: Tensor) -> tuple[Tensor | None, ...]:
        return None, *ctx.ledger.close()


class _Use(Function):
    """One use: gradients go on to the inputs that want one, and the rest is written down."""

    @staticmethod
    def forward(ctx: Any, ledger: GradientAccumulator, opened: Tensor, *parts: Tensor | None) -> Tensor:  # noqa: ARG004
        ctx.ledger = ledger
        ctx.save_for_backward(*parts)
        there = [pair for pair in zip(parts, ledger.pieces(parts), strict=True) if pair[0] is not None]
        made = product(*zip(*there, strict=True))
        return made if ledger.bias is None else made.add_(ledger.bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, back: Tensor) -> tuple[Tensor | None, ...]:
        ledger, parts = ctx.ledger, ctx.saved_tensors
        ledger.uses.append((parts, back))
        wanted = ctx.needs_input_grad[2:]
        pieces = zip(ledger.pieces(parts), wanted, strict=True)
        on_parts = (product([back], [piece.mT]) if wants else None for piece, wants in pieces)
        return None, back.new_empty(0), *on_parts


class Linear(nn.Linear):
    """A linear layer over one or several parts (B, ...) side by side, which are never joined."""

    ledger: GradientAccumulator | None = None
    turned_ledger: GradientAccumulator | None = None

    def open(self) -> None:
        """Defer from now on."""
        self.ledger = GradientAccumulator(self.weight, self.bias)
        self.turned_ledger = GradientAccumulator(self.weight.mT)

    def close(self) -> None:
        """Defer no more; what was deferred is settled by its gradient."""
        self.ledger = self.turned_ledger = None

    def forward(self, *parts: Tensor) -> Tensor:
        """(B, O)."""
        if self.ledger is not None:
            return self.ledger.use(*parts)
        made = product(parts, _columns(self.weight, parts))
        return made if self.bias is None else made + self.bias

    def turned(self, wanted: Tensor) -> Tensor:
        """W^T applied to (B, O): the one vector (B, I) whose product with any x is that of `wanted` with W x.

        To compare many x with one vector, it is this vector that is cheaper to carry over.
        """
        if self.turned_ledger is not None:
            return self.turned_ledger.use(wanted)
        return product([wanted], [self.weight.mT])


class LSTMCell(nn.LSTMCell):
    """A step of an LSTM over inputs in one or several parts side by side."""

    ledgers: tuple[GradientAccumulator, GradientAccumulator] | None = None

    def open(self) -> None:
        """Defer from now on."""
        self.ledgers = (
            GradientAccumulator(self.weight_ih, self.bias_ih),
            GradientAccumulator(self.weight_hh, self.bias_hh),
        )

    def close(self) -> None:
        """Defer no more."""
        self.ledgers = None

    def step(
        self, parts: Sequence[Tensor | Product | None], hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The next hidden state and cell (B, D); a part that is None is all zeros."""
        if self.ledgers is not None:
            told, kept = self.ledgers
            return gated(told.use(*parts) + kept.use(hidden), cell)
        sums = product([hidden], [self.weight_hh]) + (self.bias_hh + self.bias_ih)
        for part, piece in zip(parts, _columns(self.weight_ih, parts), strict=True):
            if part is not None:
                sums += through(part, piece)
        return gated(sums, cell)


@contextmanager
def deferred_gradients(network: nn.Module) -> Iterator[None]:
    """Inside, the layers of a network defer the gradients of their weights, if there will be any."""
    layers = [layer for layer in network.modules() if isinstance(layer, (Linear, LSTMCell))]
    if not torch.is_grad_enabled():
        layers = []
    for layer in layers:
        layer.open()
    try:
        yield
    finally:
        for layer in layers:
            layer.close()


def _columns(matrix: Tensor, parts: Sequence[Tensor | Product | None]) -> list[Tensor]:
    """The columns of a matrix that parts side by side stand for; one that is None stands for what is left."""
    widths = [0 if part is None else part.shape[-1] for part in parts]
    left = matrix.shape[-1] - sum(widths)
    sizes = [left if part is None else width for part, width in zip(parts, widths, strict=True)]
    return list(matrix.split_with_sizes(sizes, dim=-1))
