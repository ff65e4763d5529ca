"""LSTMs over rows of different lengths that lie end to end, without padding.

All inputs are multiplied at once; then the rows are stepped together, longest first, so that those which have
ended fall off the end of the batch. The gradient is written out for the same reason: torch would multiply
the weights anew at each step, and add to a table of the size of the whole batch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional

from babywalk.policies.parts import gates
from babywalk.policies.parts.album import Product, through
from babywalk.policies.parts.products import add_product

_AT_A_TIME = 4096  # inputs that are read at once where nothing is learned


def starts(lengths: Tensor) -> Tensor:
    """(B,) where each row begins."""
    return lengths.cumsum(0) - lengths


def run(
    lstm: nn.LSTM, inputs: Tensor | Product, lengths: Tensor, *, reverse: bool = False
) -> tuple[Tensor, Tensor]:
    """All states (S, D) in the places of their inputs (S, I), and the last of each row (B, D).

    The rows have lengths (B,) >= 1; with `reverse` each is read from its end to its beginning.
    """
    if isinstance(inputs, Tensor) and not torch.is_grad_enabled():
        # Nothing is kept for a gradient: what is laid out for some rows goes where that of others was.
        parts = lengths.tensor_split(min(len(lengths), -(-len(inputs) // _AT_A_TIME)))
        pieces = inputs.split_with_sizes([int(part.sum()) for part in parts])
        found = [_at_once(lstm, *some, reverse=reverse) for some in zip(pieces, parts, strict=True)]
        return torch.cat([states for states, _ in found]), torch.cat([ends for _, ends in found])
    return _at_once(lstm, inputs, lengths, reverse=reverse)


def _at_once(
    lstm: nn.LSTM, inputs: Tensor | Product, lengths: Tensor, *, reverse: bool
) -> tuple[Tensor, Tensor]:
    first = starts(lengths)
    last = first + lengths - 1
    order = lengths.argsort(descending=True, stable=True)
    # Each step takes the rows that are longer than its number: the first so many of the order.
    counts = (lengths[:, None] > torch.arange(int(lengths.max()))).sum(dim=0)
    step = torch.repeat_interleave(torch.arange(len(counts)), counts)
    row = order[torch.arange(len(step)) - starts(counts)[step]]
    places = last[row] - step if reverse else first[row] + step
    # Before the state of a row at a step stands its state at the step before: as many places earlier as that
    # step has rows.
    later = torch.arange(int(counts[0]), len(step))
    before = later - counts[step[later] - 1]
    on_inputs, on_states, bias, other_bias = weights = tuple(lstm.parameters())
    states: Tensor
    if isinstance(inputs, Tensor):
        # torch does not type it:
        states = _Run.apply(inputs, *weights, places, before, counts.tolist())  # type: ignore[no-untyped-call]
    else:
        sums = through(inputs, on_inputs).index_select(0, places).add_(bias + other_bias)
        hidden, _, _ = _stepped(sums, on_states, counts.tolist())
        states = torch.empty_like(hidden).index_copy_(0, places, hidden)
    return states, states.index_select(0, first if reverse else last)


def _stepped(sums: Tensor, on_states: Tensor, counts: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Hidden states, cells and tanh of them (S, D), from the gates' sums (S, 4 D) that are squashed in place.

    The sums are sorted by step, and then by the length of their row.
    """
    hidden, cells, squashed = (sums.new_empty(len(sums), on_states.shape[1]) for _ in range(3))
    cell = sums.new_zeros(counts[0], on_states.shape[1])
    begin = last = 0
    for number, count in enumerate(counts):
        here = slice(begin, begin + count)
        if number:
            add_product(sums[here], hidden[last : last + count], on_states)
        gates.forth(sums[here], cell[:count], hidden[here], cells[here], squashed[here])
        cell, last = cells[here], begin
        begin += count
    return hidden, cells, squashed


class _Run(Function):
    """Shapes: S inputs of all rows; they are sorted by step, and then by the length of their row."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,  # (S, I)
        on_inputs: Tensor,  # (4 D, I)
        on_states: Tensor,  # (4 D, D)
        bias: Tensor,  # (4 D,)
        other_bias: Tensor,  # (4 D,)
        places: Tensor,  # (S,) of the sorted inputs among the unsorted
        before: Tensor,  # (S - B,) of the states before those of all steps but the first
        counts: list[int],  # of rows in each step
    ) -> Tensor:  # (S, D)
        # Inputs are sorted, or the products with them: what is narrower.
        ctx.wide = inputs.shape[1] > len(on_inputs)
        if not ctx.wide:
            inputs = inputs.index_select(0, places)
        sums = functional.linear(inputs, on_inputs, bias + other_bias)
        if ctx.wide:
            sums = sums.index_select(0, places)
        hidden, cells, squashed = _stepped(sums, on_states, counts)
        ctx.save_for_backward(inputs, on_inputs, on_states, places, before, sums, hidden, cells, squashed)
        ctx.counts = counts
        return torch.empty_like(hidden).index_copy_(0, places, hidden)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, on_hidden: Tensor) -> tuple[Tensor | None, ...]:
        inputs, on_inputs, on_states, places, before, squashed_sums, hidden, cells, squashed = (
            ctx.saved_tensors
        )
        counts: list[int] = ctx.counts
        on_hidden = on_hidden.index_select(0, places)
        on_sums = torch.empty_like(squashed_sums)
        start = cells.new_zeros(counts[0], cells.shape[1])
        on_cell: Tensor | None = None
        end = len(places)
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
        of_states = on_sums[counts[0] :].t() @ hidden.index_select(0, before)
        if ctx.wide:
            on_sums = torch.empty_like(on_sums).index_copy_(0, places, on_sums)
        gradient = None
        if ctx.needs_input_grad[0]:
            gradient = on_sums @ on_inputs
            if not ctx.wide:
                gradient = torch.empty_like(gradient).index_copy_(0, places, gradient)
        return gradient, on_sums.t() @ inputs, of_states, on_bias, on_bias.clone(), *(None, None, None)


class BothWays(nn.Module):
    """A Bi-LSTM: one forth, one back. Shapes: B rows, S steps of all of them, D hidden units of both."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.forth = nn.LSTM(inputs, hidden // 2, batch_first=True)
        self.back = nn.LSTM(inputs, hidden // 2, batch_first=True)

    def forward(self, inputs: Tensor | Product, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """All states (S, D), and the last ones of both directions (B, D)."""
        forth, ended = run(self.forth, inputs, lengths)
        back, began = run(self.back, inputs, lengths, reverse=True)
        return torch.cat([forth, back], dim=1), torch.cat([ended, began], dim=1)
