"""Deferred layers against torch's own: the same outputs, the same gradients."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from babywalk.modules.kernels.deferred_gradients import Linear, LSTMCell, deferred_gradients
from babywalk.modules.kernels.lstm_gates import gated


class Walker(nn.Module):
    """A linear layer used both ways and an LSTM cell, step after step, by fewer and fewer walkers."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.query = Linear(3, 4)
        self.lstm = LSTMCell(6, 3)
        self.double()

    def forward(self, hidden: torch.Tensor, *, nothing: bool = False, steps: int = 3) -> torch.Tensor:
        cell, total = torch.zeros_like(hidden), hidden.new_zeros(())
        for step in range(steps):
            looked = self.query(hidden[:, :1], hidden[:, 1:])
            back = self.query.turned(looked)
            fixed: torch.Tensor | None = hidden.new_full((len(hidden), 2), step)  # wants no gradient
            if nothing and step == 0:
                fixed = None
            hidden, cell = self.lstm.step((fixed, looked), hidden, cell)
            hidden = hidden + back
            total = total + hidden.square().sum()
            hidden, cell = hidden[:-1], cell[:-1]
        return total


@pytest.fixture
def start() -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(4, 3, dtype=torch.float64, requires_grad=True)


def test_the_same_gradients_as_at_once(start: torch.Tensor) -> None:
    walker = Walker()
    weights = [start, *walker.parameters()]
    plain = walker(start)
    expected = torch.autograd.grad(plain, weights)
    with deferred_gradients(walker):
        deferred = walker(start)
    assert torch.allclose(plain, deferred)
    found = torch.autograd.grad(deferred, weights)
    assert all(torch.allclose(one, two) for one, two in zip(expected, found, strict=True))


@pytest.mark.parametrize("steps", [1, 3])  # in one step nothing else is ever given
def test_a_part_that_is_nothing_is_all_zeros(start: torch.Tensor, steps: int) -> None:
    walker = Walker()
    weights = [start, *walker.parameters()]
    plain = walker(start, steps=steps)
    assert torch.equal(plain, walker(start, nothing=True, steps=steps))
    expected = torch.autograd.grad(plain, weights)
    with deferred_gradients(walker):
        deferred = walker(start, nothing=True, steps=steps)
    assert torch.allclose(plain, deferred)
    found = torch.autograd.grad(deferred, weights)
    assert all(torch.allclose(one, two) for one, two in zip(expected, found, strict=True))


def test_two_walks_in_one_loss_add_up(start: torch.Tensor) -> None:
    walker = Walker()
    expected = torch.autograd.grad(walker(start) + walker(start[:2]), list(walker.parameters()))
    with deferred_gradients(walker):
        first = walker(start)
    with deferred_gradients(walker):
        second = walker(start[:2])
    (first + second).backward()
    for weight, gradient in zip(walker.parameters(), expected, strict=True):
        assert weight.grad is not None
        assert torch.allclose(weight.grad, gradient)


def test_what_is_walked_anew_forgets_what_was_never_settled(start: torch.Tensor) -> None:
    """A loss that is thrown away leaves nothing behind; so does one whose gradient was taken."""
    walker = Walker()
    expected = torch.autograd.grad(walker(start), list(walker.parameters()))
    for _ in range(2):
        with deferred_gradients(walker):
            walker(start)
            loss = walker(start)
        found = torch.autograd.grad(loss, list(walker.parameters()))
        assert all(torch.allclose(one, two) for one, two in zip(expected, found, strict=True))


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_without_gradients_nothing_is_deferred(mode: type, start: torch.Tensor) -> None:
    walker = Walker()
    with mode(), deferred_gradients(walker):
        found = walker(start)
        assert walker.query.ledger is None
    assert torch.allclose(found, walker(start))


def test_an_error_on_the_way_closes_the_layers() -> None:
    walker = Walker()
    with pytest.raises(ValueError, match="stumbled"), deferred_gradients(walker):
        raise ValueError("stumbled")
    assert walker.query.ledger is None
    assert walker.lstm.ledgers is None


def test_names_and_weights_are_those_of_torch() -> None:
    assert LSTMCell(2, 3).state_dict().keys() == nn.LSTMCell(2, 3).state_dict().keys()
    assert Linear(2, 3).state_dict().keys() == nn.Linear(2, 3).state_dict().keys()


def test_the_gates_are_right_to_the_gradient() -> None:
    torch.manual_seed(0)
    sums, cell = (torch.randn(2, width, dtype=torch.float64, requires_grad=True) for width in (12, 3))
    assert torch.autograd.gradcheck(gated, (sums, cell))
    (gradient,) = torch.autograd.grad(gated(sums, cell)[1].sum(), [cell])  # of the cell alone
    assert torch.allclose(gradient, sums[:, 3:6].sigmoid())
