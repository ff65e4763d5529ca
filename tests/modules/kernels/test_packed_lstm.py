from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from babywalk.modules.kernels import packed_lstm
from babywalk.modules.kernels.packed_lstm import BiLSTM, run

LENGTHS = st.lists(st.integers(1, 7), min_size=1, max_size=9)
unhurried = settings(deadline=None)  # a machine may have other things to do


def rows(lengths: list[int], width: int = 3) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(length, width, dtype=torch.float64, requires_grad=True) for length in lengths]


# Inputs narrower and wider than the sums of the gates.
@unhurried
@given(LENGTHS, st.booleans(), st.sampled_from([3, 17]))
def test_rows_run_as_packed_ones_do(lengths: list[int], reverse: bool, width: int) -> None:
    lstm, inputs = nn.LSTM(width, 4).double(), rows(lengths, width)
    states, last = run(lstm, torch.cat(inputs), torch.tensor(lengths), reverse=reverse)
    turned = [row.flip(0) if reverse else row for row in inputs]
    packed, (ended, _) = lstm(pack_sequence(turned, enforce_sorted=False))
    expected = torch.cat([row.flip(0) if reverse else row for row in unpack_sequence(packed)])
    assert torch.allclose(states, expected)
    assert torch.allclose(last, ended[0])
    # Gradients of states and last states together, of inputs and of every weight.
    weights = [*inputs, *lstm.parameters()]
    mix, end = torch.randn_like(states), torch.randn_like(last)
    ours = torch.autograd.grad((states * mix).sum() + (last * end).sum(), weights)
    theirs = torch.autograd.grad((expected * mix).sum() + (ended[0] * end).sum(), weights)
    assert all(torch.allclose(one, two) for one, two in zip(ours, theirs, strict=True))


@unhurried
@given(LENGTHS, st.booleans(), st.sampled_from([3, 17]), st.data())
def test_inputs_that_are_not_given_are_zeros(
    lengths: list[int], reverse: bool, width: int, data: st.DataObject
) -> None:
    lstm, inputs = nn.LSTM(width, 4).double(), torch.cat(rows(lengths, width)).detach()
    chosen = data.draw(st.lists(st.sampled_from(range(len(inputs))), min_size=1, unique=True).map(sorted))
    given_ = torch.tensor(chosen)
    some = inputs[given_].requires_grad_()
    whole = torch.zeros_like(inputs).index_copy(0, given_, some)
    plain = run(lstm, whole, torch.tensor(lengths), reverse=reverse)
    found = run(lstm, some, torch.tensor(lengths), reverse=reverse, given=given_)
    assert all(torch.allclose(one, two) for one, two in zip(found, plain, strict=True))
    mixes = [torch.randn_like(part) for part in plain]
    gradients = [
        torch.autograd.grad(
            sum((part * mix).sum() for part, mix in zip(parts, mixes, strict=True)),
            [some, *lstm.parameters()],
        )
        for parts in (found, plain)
    ]
    assert all(torch.allclose(one, two) for one, two in zip(*gradients, strict=True))


@unhurried
@given(LENGTHS, st.booleans(), st.integers(1, 20))
def test_few_rows_at_a_time_run_as_all_do(lengths: list[int], reverse: bool, some: int) -> None:
    lstm, inputs = nn.LSTM(3, 4).double(), torch.cat(rows(lengths))
    expected = run(lstm, inputs, torch.tensor(lengths), reverse=reverse)
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(packed_lstm, "_AT_A_TIME", some)
        found = run(lstm, inputs, torch.tensor(lengths), reverse=reverse)
    assert all(torch.allclose(one, two) for one, two in zip(found, expected, strict=True))


@unhurried
@given(LENGTHS)
def test_both_ways_as_a_bidirectional_one_does(lengths: list[int]) -> None:
    ours, theirs = BiLSTM(3, 4).double(), nn.LSTM(3, 2, bidirectional=True).double()
    forth, back = ours.forth.state_dict(), ours.back.state_dict()
    theirs.load_state_dict({**forth, **{f"{name}_reverse": weight for name, weight in back.items()}})
    inputs = rows(lengths)
    states, last = ours(torch.cat(inputs), torch.tensor(lengths))
    packed, (ended, _) = theirs(pack_sequence(inputs, enforce_sorted=False))
    assert torch.allclose(states, torch.cat(unpack_sequence(packed)))
    assert torch.allclose(last, torch.cat([ended[0], ended[1]], dim=1))


def test_products_are_run_as_their_numbers_are() -> None:
    class Doubled:
        """Twice some numbers."""

        def __init__(self, numbers: torch.Tensor) -> None:
            self.numbers = numbers
            self.shape = tuple(numbers.shape)

        def through(self, weight: torch.Tensor) -> torch.Tensor:
            return 2 * (self.numbers @ weight.t())

    lstm, numbers, lengths = nn.LSTM(3, 4), torch.randn(6, 3), torch.tensor([2, 3, 1])
    with torch.no_grad():
        for one, two in zip(
            run(lstm, 2 * numbers, lengths), run(lstm, Doubled(numbers), lengths), strict=True
        ):
            assert torch.allclose(one, two, atol=1e-6)


def test_inputs_that_nothing_learns_from_get_no_gradient() -> None:
    lstm = nn.LSTM(3, 4)
    states, _ = run(lstm, torch.randn(3, 3), torch.tensor([2, 1]))
    states.sum().backward()
    assert all(weight.grad is not None for weight in lstm.parameters())
