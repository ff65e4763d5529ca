"""Layers with deferred gradients: the same outputs and gradients as without."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from babywalk.modules.kernels.deferred_gradients import FastLinear, FastLSTMCell, deferred_gradients
from babywalk.modules.kernels.lazy_rows import SparseRows
from babywalk.modules.kernels.lstm_gates import lstm_gates


class Steps(nn.Module):
    """A linear layer, used transposed as well, and an LSTM cell, step after step, for ever fewer rows."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.query = FastLinear(3, 4)
        self.lstm = FastLSTMCell(6, 3)
        self.double()

    def forward(self, hidden: torch.Tensor, *, sparse: bool = False, count: int = 3) -> torch.Tensor:
        cell, total = torch.zeros_like(hidden), hidden.new_zeros(())
        for step in range(count):
            queried = self.query(hidden[:, :1], hidden[:, 1:])
            back = self.query.transposed(queried)
            fixed: torch.Tensor | SparseRows = hidden.new_full((len(hidden), 2), step)  # without gradient
            if sparse and step == 0:
                none = torch.empty(0, dtype=torch.int64)
                fixed = SparseRows(hidden.new_empty(0, 2), none, len(hidden))
            hidden, cell = self.lstm((fixed, queried), hidden, cell)
            hidden = hidden + back
            total = total + hidden.square().sum()
            hidden, cell = hidden[:-1], cell[:-1]
        return total


@pytest.fixture
def start() -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(4, 3, dtype=torch.float64, requires_grad=True)


def test_deferred_gradients_equal_immediate_ones(start: torch.Tensor) -> None:
    steps = Steps()
    weights = [start, *steps.parameters()]
    plain = steps(start)
    expected = torch.autograd.grad(plain, weights)
    with deferred_gradients(steps):
        deferred = steps(start)
    assert torch.allclose(plain, deferred)
    found = torch.autograd.grad(deferred, weights)
    assert all(torch.allclose(one, two) for one, two in zip(expected, found, strict=True))


@pytest.mark.parametrize("count", [1, 3])  # with one step, no rows are ever given
def test_a_part_without_given_rows_is_zero(start: torch.Tensor, count: int) -> None:
    steps = Steps()
    weights = [start, *steps.parameters()]
    plain = steps(start, count=count)
    assert torch.equal(plain, steps(start, sparse=True, count=count))
    expected = torch.autograd.grad(plain, weights)
    with deferred_gradients(steps):
        deferred = steps(start, sparse=True, count=count)
    assert torch.allclose(plain, deferred)
    found = torch.autograd.grad(deferred, weights)
    assert all(torch.allclose(one, two) for one, two in zip(expected, found, strict=True))


def test_gradients_of_two_rollouts_in_one_loss_add_up(start: torch.Tensor) -> None:
    steps = Steps()
    expected = torch.autograd.grad(steps(start) + steps(start[:2]), list(steps.parameters()))
    with deferred_gradients(steps):
        first = steps(start)
    with deferred_gradients(steps):
        second = steps(start[:2])
    (first + second).backward()
    for weight, gradient in zip(steps.parameters(), expected, strict=True):
        assert weight.grad is not None
        assert torch.allclose(weight.grad, gradient)


def test_uses_without_a_backward_pass_leave_no_gradient(start: torch.Tensor) -> None:
    """Neither a discarded loss nor one whose gradient was computed changes the next gradient."""
    steps = Steps()
    expected = torch.autograd.grad(steps(start), list(steps.parameters()))
    for _ in range(2):
        with deferred_gradients(steps):
            steps(start)
            loss = steps(start)
        found = torch.autograd.grad(loss, list(steps.parameters()))
        assert all(torch.allclose(one, two) for one, two in zip(expected, found, strict=True))


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_without_gradients_nothing_is_deferred(mode: type, start: torch.Tensor) -> None:
    steps = Steps()
    with mode(), deferred_gradients(steps):
        found = steps(start)
        assert steps.query.accumulator is None
    assert torch.allclose(found, steps(start))


def test_an_error_ends_the_deferral() -> None:
    steps = Steps()
    with pytest.raises(ValueError, match="any error"), deferred_gradients(steps):
        raise ValueError("any error")
    assert steps.query.accumulator is None
    assert steps.lstm.accumulators is None


def test_parameters_have_the_names_of_torch() -> None:
    assert FastLSTMCell(2, 3).state_dict().keys() == nn.LSTMCell(2, 3).state_dict().keys()
    assert FastLinear(2, 3).state_dict().keys() == nn.Linear(2, 3).state_dict().keys()


def test_gradients_of_the_gates_are_correct() -> None:
    torch.manual_seed(0)
    sums, cell = (torch.randn(2, width, dtype=torch.float64, requires_grad=True) for width in (12, 3))
    assert torch.autograd.gradcheck(lstm_gates, (sums, cell))
    (gradient,) = torch.autograd.grad(lstm_gates(sums, cell)[1].sum(), [cell])  # of the cell alone
    assert torch.allclose(gradient, sums[:, 3:6].sigmoid())
