"""`PackedLSTM` with one product for all inputs and a hand-written gradient.

All inputs are multiplied at once; then the rows are stepped together, longest first, so that finished rows
fall off the end of the batch. The gradient of the weights is one product too, where autograd would use the
weights anew at every step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional

from babywalk.modules.kernels import lstm_gates
from babywalk.modules.kernels.lazy_rows import LazyRows, SparseRows, multiply
from babywalk.modules.kernels.matmul import add_product
from babywalk.modules.layers import PackedLSTM, row_starts

_CHUNK = 4096  # inputs that are processed at once without gradients


class FastPackedLSTM(PackedLSTM):
    """Shapes as in `PackedLSTM`."""

    def forward(  # type: ignore[override]  # also takes lazy rows
        self,
        inputs: Tensor | LazyRows,  # (S, I)
        lengths: Tensor,  # (B,) at least 1
        *,
        reverse: bool = False,
    ) -> tuple[Tensor, Tensor, Tensor]:  # (S, D), (B, D), (B, D)
        """The hidden states in the places of their inputs, and the last hidden state and cell of each row."""
        if isinstance(inputs, Tensor) and not torch.is_grad_enabled():
            # Some rows at a time, so that their memory is used again for the next ones.
            parts = lengths.tensor_split(min(len(lengths), -(-len(inputs) // _CHUNK)))
            pieces = inputs.split_with_sizes([int(part.sum()) for part in parts])
            found = [
                self._run(piece, PackedOrder.of(part, reverse=reverse))
                for piece, part in zip(pieces, parts, strict=True)
            ]
            states, last, cells = (torch.cat(parts) for parts in zip(*found, strict=True))
            return states, last, cells
        if isinstance(inputs, SparseRows):
            return self._run(inputs.given, PackedOrder.of(lengths, reverse=reverse, given=inputs.places))
        return self._run(inputs, PackedOrder.of(lengths, reverse=reverse))

    def _run(self, inputs: Tensor | LazyRows, order: PackedOrder) -> tuple[Tensor, Tensor, Tensor]:
        weight_ih, weight_hh, bias_ih, bias_hh = weights = tuple(self.parameters())
        if isinstance(inputs, Tensor):
            # torch does not type it:
            states, cells = _LSTM.apply(inputs, *weights, order)  # type: ignore[no-untyped-call]
        else:
            sums = order.sorted(multiply(inputs, weight_ih))
            hidden, all_cells, _ = _steps(sums, bias_ih + bias_hh, weight_hh, order.counts)
            states, cells = order.restored(hidden), all_cells.index_select(0, order.last_rank)
        return states, states.index_select(0, order.last), cells


@dataclass(frozen=True, slots=True, eq=False)
class PackedOrder:
    """Inputs sorted by step, and within a step by the length of their row, longest first.

    Shapes: B rows, S inputs of all rows, G of them that are not zero.
    """

    counts: list[int]  # rows in each step: the longest so many
    places: Tensor  # (S,) where each sorted input is stored
    rank: Tensor  # (G,) where each given input is among the sorted
    previous: Tensor  # (S - B,) the sorted input of the step before, for all steps but the first
    last: Tensor  # (B,) where the last input of each row is stored
    last_rank: Tensor  # (B,) where it is among the sorted

    @classmethod
    def of(cls, lengths: Tensor, *, reverse: bool, given: Tensor | None = None) -> PackedOrder:
        """Of rows stored one after another; `given` (G,) are the inputs that are not zero, None for all."""
        device = lengths.device
        first = row_starts(lengths)
        last = first + lengths - 1
        order = lengths.argsort(descending=True, stable=True)
        counts = (lengths[:, None] > torch.arange(int(lengths.max()), device=device)).sum(dim=0)
        step = torch.repeat_interleave(torch.arange(len(counts), device=device), counts)
        row = order[torch.arange(len(step), device=device) - row_starts(counts)[step]]
        places = last[row] - step if reverse else first[row] + step
        rank = torch.empty_like(places)
        rank[places] = torch.arange(len(places), device=device)
        # The state of a row at the step before is as many places earlier as that step has rows.
        later = torch.arange(int(counts[0]), len(step), device=device)
        previous = later - counts[step[later] - 1]
        end = first if reverse else last
        return cls(counts.tolist(), places, rank if given is None else rank[given], previous, end, rank[end])

    def sorted(self, values: Tensor) -> Tensor:
        """Values (G, X) of the given inputs, sorted (S, X); zeros for the others."""
        if len(self.rank) == len(self.places):
            return values.index_select(0, self.places)
        return values.new_zeros(len(self.places), values.shape[1]).index_copy_(0, self.rank, values)

    def unsorted(self, values: Tensor) -> Tensor:
        """The given inputs' rows (G, X) of sorted values (S, X)."""
        return values.index_select(0, self.rank)

    def restored(self, values: Tensor) -> Tensor:
        """Sorted values (S, X) in the order in which inputs are stored."""
        return torch.empty_like(values).index_copy_(0, self.places, values)


def _steps(
    sums: Tensor,  # (S, 4 D) products of the sorted inputs; replaced by the gates' activations
    bias: Tensor,  # (4 D,)
    weight_hh: Tensor,  # (4 D, D)
    counts: list[int],  # rows in each step
) -> tuple[Tensor, Tensor, Tensor]:
    """Hidden states, cells and tanh of the cells (S, D)."""
    hidden, cells, cell_tanh = (sums.new_empty(len(sums), weight_hh.shape[1]) for _ in range(3))
    cell = sums.new_zeros(counts[0], weight_hh.shape[1])
    begin = before = 0
    for step, count in enumerate(counts):
        here = slice(begin, begin + count)
        if step:
            add_product(sums[here], hidden[before : before + count], weight_hh)
        sums[here] += bias  # not earlier: these rows are now in the cache
        lstm_gates.forward(sums[here], cell[:count], hidden[here], cells[here], cell_tanh[here])
        cell, before = cells[here], begin
        begin += count
    return hidden, cells, cell_tanh


class _LSTM(Function):
    """Shapes: S inputs of all rows, G of them that are given."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,  # (G, I)
        weight_ih: Tensor,  # (4 D, I)
        weight_hh: Tensor,  # (4 D, D)
        bias_ih: Tensor,  # (4 D,)
        bias_hh: Tensor,  # (4 D,)
        order: PackedOrder,
    ) -> tuple[Tensor, Tensor]:  # hidden states (S, D), last cells (B, D)
        # Either the inputs are sorted or their products, whichever is narrower; sparse inputs never.
        ctx.sort_inputs = inputs.shape[1] < len(weight_ih) and len(inputs) == len(order.places)
        if ctx.sort_inputs:
            inputs = order.sorted(inputs)
        sums = inputs @ weight_ih.mT
        if not ctx.sort_inputs:
            sums = order.sorted(sums)
        hidden, cells, cell_tanh = _steps(sums, bias_ih + bias_hh, weight_hh, order.counts)
        ctx.save_for_backward(inputs, weight_ih, weight_hh, sums, hidden, cells, cell_tanh)
        ctx.order = order
        ctx.set_materialize_grads(False)
        return order.restored(hidden), cells.index_select(0, order.last_rank)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_hidden: Tensor | None, d_last: Tensor | None) -> tuple[Tensor | None, ...]:
        inputs, weight_ih, weight_hh, gates, hidden, cells, cell_tanh = ctx.saved_tensors
        order: PackedOrder = ctx.order
        counts = order.counts
        d_hidden = torch.zeros_like(hidden) if d_hidden is None else d_hidden.index_select(0, order.places)
        d_cells = None  # (S, D) gradients of the cells that were returned
        if d_last is not None:
            d_cells = torch.zeros_like(hidden).index_copy_(0, order.last_rank, d_last)
        d_sums = torch.empty_like(gates)
        first_cell = cells.new_zeros(counts[0], cells.shape[1])
        d_cell: Tensor | None = None
        end = len(d_sums)
        for step in range(len(counts) - 1, -1, -1):
            here = slice(end - counts[step], end)
            end -= counts[step]
            if step + 1 < len(counts):
                later = d_sums[here.stop : here.stop + counts[step + 1]]
                add_product(d_hidden[here][: len(later)], later, weight_hh.mT)
            if d_cell is not None:
                d_cell = functional.pad(d_cell, (0, 0, 0, counts[step] - len(d_cell)))
            if d_cells is not None:
                d_cell = d_cells[here].clone() if d_cell is None else d_cell + d_cells[here]
            cell = cells[end - counts[step - 1] : end][: counts[step]] if step else first_cell
            d_cell = lstm_gates.backward(
                gates[here], cell, cell_tanh[here], d_hidden[here], d_cell, d_sums[here]
            )
        d_bias = d_sums.sum(dim=0)
        d_weight_hh = d_sums[counts[0] :].t() @ hidden.index_select(0, order.previous)
        if not ctx.sort_inputs:
            d_sums = order.unsorted(d_sums)
        d_weight_ih = d_sums.t() @ inputs
        d_inputs = None
        if ctx.needs_input_grad[0]:
            d_inputs = d_sums @ weight_ih
            if ctx.sort_inputs:
                d_inputs = order.unsorted(d_inputs)
        return d_inputs, d_weight_ih, d_weight_hh, d_bias, d_bias.clone(), None
