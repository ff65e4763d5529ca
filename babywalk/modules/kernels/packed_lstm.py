"""LSTMs over rows of different lengths that lie end to end, without padding.

All inputs are multiplied at once; then the rows are stepped together, longest first, so that those which have
ended fall off the end of the batch. The gradient is written out for the same reason: torch would multiply
the weights anew at each step, and add to a table of the size of the whole batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional

from babywalk.modules.kernels import lstm_gates as gates
from babywalk.modules.kernels.matmul import add_product
from babywalk.modules.kernels.product_cache import Product, through

_AT_A_TIME = 4096  # inputs that are read at once where nothing is learned


def starts(lengths: Tensor) -> Tensor:
    """(B,) where each row begins."""
    return lengths.cumsum(0) - lengths


def run(
    lstm: nn.LSTM,
    inputs: Tensor | Product,
    lengths: Tensor,
    *,
    reverse: bool = False,
    given: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """All states (S, D) in the places of their inputs (S, I), and the last of each row (B, D).

    The rows have lengths (B,) >= 1; with `reverse` each is read from its end to its beginning. Where only
    some inputs are `given` (G,), there are G of them, and the others are zeros that need no product.
    """
    if given is None and isinstance(inputs, Tensor) and not torch.is_grad_enabled():
        # Nothing is kept for a gradient: what is laid out for some rows goes where that of others was.
        parts = lengths.tensor_split(min(len(lengths), -(-len(inputs) // _AT_A_TIME)))
        pieces = inputs.split_with_sizes([int(part.sum()) for part in parts])
        found = [
            _at_once(lstm, piece, PackedOrder.of(part, reverse=reverse))
            for piece, part in zip(pieces, parts, strict=True)
        ]
        return torch.cat([states for states, _ in found]), torch.cat([ends for _, ends in found])
    return _at_once(lstm, inputs, PackedOrder.of(lengths, reverse=reverse, given=given))


@dataclass(frozen=True, slots=True, eq=False)
class PackedOrder:
    """Inputs sorted by step, and then by the length of their row.

    Shapes: B rows, S inputs of all, G of them that are not zeros.
    """

    counts: list[int]  # rows in each step: the longest so many
    places: Tensor  # (S,) of the sorted inputs among the unsorted
    spots: Tensor  # (G,) of the given inputs among the sorted
    before: Tensor  # (S - B,) the sorted input before each of all steps but the first
    last: Tensor  # (B,) the place of the input that each row ends with

    @classmethod
    def of(cls, lengths: Tensor, *, reverse: bool, given: Tensor | None = None) -> PackedOrder:
        """Of rows that lie end to end."""
        first = starts(lengths)
        last = first + lengths - 1
        order = lengths.argsort(descending=True, stable=True)
        # Each step takes the rows that are longer than its number: the first so many of the order.
        counts = (lengths[:, None] > torch.arange(int(lengths.max()))).sum(dim=0)
        step = torch.repeat_interleave(torch.arange(len(counts)), counts)
        row = order[torch.arange(len(step)) - starts(counts)[step]]
        places = last[row] - step if reverse else first[row] + step
        spots = torch.empty_like(places)
        spots[places] = torch.arange(len(places))
        # Before the state of a row at a step stands its state at the step before: as many places earlier as
        # that step has rows.
        later = torch.arange(int(counts[0]), len(step))
        before = later - counts[step[later] - 1]
        return cls(
            counts.tolist(),
            places,
            spots if given is None else spots[given],
            before,
            first if reverse else last,
        )

    def sorted(self, values: Tensor) -> Tensor:
        """Values (G, X) of the given inputs, sorted (S, X); zeros for the others."""
        if len(self.spots) == len(self.places):
            return values.index_select(0, self.places)
        return values.new_zeros(len(self.places), values.shape[1]).index_copy_(0, self.spots, values)

    def unsorted(self, values: Tensor) -> Tensor:
        """Of sorted values (S, X) those of the given inputs (G, X), as they came."""
        return values.index_select(0, self.spots)

    def placed(self, values: Tensor) -> Tensor:
        """Sorted values (S, X) in their places."""
        return torch.empty_like(values).index_copy_(0, self.places, values)


def _at_once(lstm: nn.LSTM, inputs: Tensor | Product, order: PackedOrder) -> tuple[Tensor, Tensor]:
    on_inputs, on_states, bias, other_bias = weights = tuple(lstm.parameters())
    states: Tensor
    if isinstance(inputs, Tensor):
        # torch does not type it:
        states = _Run.apply(inputs, *weights, order)  # type: ignore[no-untyped-call]
    else:
        sums = order.sorted(through(inputs, on_inputs))
        hidden, _, _ = _stepped(sums, bias + other_bias, on_states, order.counts)
        states = order.placed(hidden)
    return states, states.index_select(0, order.last)


def _stepped(
    sums: Tensor,  # (S, 4 D) the products of sorted inputs, which become the squashed gates
    bias: Tensor,  # (4 D,)
    on_states: Tensor,  # (4 D, D)
    counts: list[int],  # of rows in each step
) -> tuple[Tensor, Tensor, Tensor]:
    """Hidden states, cells and tanh of them (S, D)."""
    hidden, cells, squashed = (sums.new_empty(len(sums), on_states.shape[1]) for _ in range(3))
    cell = sums.new_zeros(counts[0], on_states.shape[1])
    begin = last = 0
    for number, count in enumerate(counts):
        here = slice(begin, begin + count)
        if number:
            add_product(sums[here], hidden[last : last + count], on_states)
        sums[here] += bias  # here, while they are in the cache
        gates.forth(sums[here], cell[:count], hidden[here], cells[here], squashed[here])
        cell, last = cells[here], begin
        begin += count
    return hidden, cells, squashed


class _Run(Function):
    """Shapes: S inputs of all rows, G of them that are given."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,  # (G, I)
        on_inputs: Tensor,  # (4 D, I)
        on_states: Tensor,  # (4 D, D)
        bias: Tensor,  # (4 D,)
        other_bias: Tensor,  # (4 D,)
        order: PackedOrder,
    ) -> Tensor:  # (S, D)
        # Inputs are sorted, or the products with them: what is narrower, and has no zeros in it.
        ctx.narrow = inputs.shape[1] < len(on_inputs) and len(inputs) == len(order.places)
        if ctx.narrow:
            inputs = order.sorted(inputs)
        sums = inputs @ on_inputs.mT
        if not ctx.narrow:
            sums = order.sorted(sums)
        hidden, cells, squashed = _stepped(sums, bias + other_bias, on_states, order.counts)
        ctx.save_for_backward(inputs, on_inputs, on_states, sums, hidden, cells, squashed)
        ctx.order = order
        return order.placed(hidden)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, on_hidden: Tensor) -> tuple[Tensor | None, ...]:
        inputs, on_inputs, on_states, squashed_sums, hidden, cells, squashed = ctx.saved_tensors
        order: PackedOrder = ctx.order
        counts = order.counts
        on_hidden = on_hidden.index_select(0, order.places)
        on_sums = torch.empty_like(squashed_sums)
        start = cells.new_zeros(counts[0], cells.shape[1])
        on_cell: Tensor | None = None
        end = len(on_sums)
        for number in range(len(counts) - 1, -1, -1):
            here = slice(end - counts[number], end)
            end -= counts[number]
            if number + 1 < len(counts):
                later = on_sums[here.stop : here.stop + counts[number + 1]]
                add_product(on_hidden[here][: len(later)], later, on_states.mT)
            if on_cell is not None:
                on_cell = functional.pad(on_cell, (0, 0, 0, counts[number] - len(on_cell)))
            came = cells[end - counts[number - 1] : end][: counts[number]] if number else start
            on_cell = gates.back(
                squashed_sums[here], came, squashed[here], on_hidden[here], on_cell, on_sums[here]
            )
        on_bias = on_sums.sum(dim=0)
        of_states = on_sums[counts[0] :].t() @ hidden.index_select(0, order.before)
        if not ctx.narrow:
            on_sums = order.unsorted(on_sums)
        of_inputs = on_sums.t() @ inputs
        gradient = None
        if ctx.needs_input_grad[0]:
            gradient = on_sums @ on_inputs
            if ctx.narrow:
                gradient = order.unsorted(gradient)
        return gradient, of_inputs, of_states, on_bias, on_bias.clone(), None


class BiLSTM(nn.Module):
    """A Bi-LSTM: one forth, one back. Shapes: B rows, S steps of all of them, D hidden units of both."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.forth = nn.LSTM(inputs, hidden // 2, batch_first=True)
        self.back = nn.LSTM(inputs, hidden // 2, batch_first=True)

    def forward(
        self, inputs: Tensor | Product, lengths: Tensor, given: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """All states (S, D), and the last ones of both directions (B, D); inputs as in `run`."""
        forth, ended = run(self.forth, inputs, lengths, given=given)
        back, began = run(self.back, inputs, lengths, given=given, reverse=True)
        return torch.cat([forth, back], dim=1), torch.cat([ended, began], dim=1)
