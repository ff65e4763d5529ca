"""`PackedLSTM` and `FastPackedLSTM` against torch's own LSTM over packed sequences."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from babywalk.modules.kernels import packed_lstm
from babywalk.modules.kernels.backend import Backend, KernelBackend
from babywalk.modules.kernels.lazy_rows import LazyRows, SparseRows
from babywalk.modules.kernels.packed_lstm import FastPackedLSTM
from babywalk.modules.layers import BiLSTM, PackedLSTM

LENGTHS = st.lists(st.integers(1, 7), min_size=1, max_size=9)
BOTH = pytest.mark.parametrize("kind", [PackedLSTM, FastPackedLSTM])
no_deadline = settings(deadline=None)  # the machine may be busy


def rows(lengths: list[int], width: int = 3) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(length, width, dtype=torch.float64, requires_grad=True) for length in lengths]


# Inputs narrower and wider than the gates.
@BOTH
@no_deadline
@given(LENGTHS, st.booleans(), st.sampled_from([3, 17]))
def test_states_and_gradients_equal_those_of_packed_sequences(
    kind: type[PackedLSTM], lengths: list[int], reverse: bool, width: int
) -> None:
    lstm, inputs = kind(width, 4).double(), rows(lengths, width)
    torch_lstm = nn.LSTM(width, 4).double()
    torch_lstm.load_state_dict(lstm.state_dict())
    states, last, cell = lstm(torch.cat(inputs), torch.tensor(lengths), reverse=reverse)
    in_order = [row.flip(0) if reverse else row for row in inputs]
    packed, (expected_last, expected_cell) = torch_lstm(pack_sequence(in_order, enforce_sorted=False))
    expected = torch.cat([row.flip(0) if reverse else row for row in unpack_sequence(packed)])
    assert torch.allclose(states, expected)
    assert torch.allclose(last, expected_last[0])
    assert torch.allclose(cell, expected_cell[0])
    # Gradients of states, last states and last cells together, for the inputs and every weight.
    d_states, d_last, d_cell = torch.randn_like(states), torch.randn_like(last), torch.randn_like(cell)
    found = torch.autograd.grad(
        (states * d_states).sum() + (last * d_last).sum() + (cell * d_cell).sum(),
        [*inputs, *lstm.parameters()],
    )
    wanted = torch.autograd.grad(
        (expected * d_states).sum() + (expected_last[0] * d_last).sum() + (expected_cell[0] * d_cell).sum(),
        [*inputs, *torch_lstm.parameters()],
    )
    assert all(torch.allclose(one, two) for one, two in zip(found, wanted, strict=True))


@no_deadline
@given(LENGTHS, st.booleans(), st.sampled_from([3, 17]), st.data())
def test_inputs_that_are_not_given_are_zero(
    lengths: list[int], reverse: bool, width: int, data: st.DataObject
) -> None:
    lstm, inputs = FastPackedLSTM(width, 4).double(), torch.cat(rows(lengths, width)).detach()
    chosen = data.draw(st.lists(st.sampled_from(range(len(inputs))), unique=True).map(sorted))
    places = torch.tensor(chosen, dtype=torch.int64)
    some = inputs[places].requires_grad_()
    full = torch.zeros_like(inputs).index_copy(0, places, some)
    expected = lstm(full, torch.tensor(lengths), reverse=reverse)
    found = lstm(SparseRows(some, places, len(inputs)), torch.tensor(lengths), reverse=reverse)
    assert all(torch.allclose(one, two) for one, two in zip(found, expected, strict=True))
    d_found = [torch.randn_like(part) for part in expected]
    gradients = [
        torch.autograd.grad(
            sum((part * d_part).sum() for part, d_part in zip(parts, d_found, strict=True)),
            [some, *lstm.parameters()],
        )
        for parts in (found, expected)
    ]
    assert all(torch.allclose(one, two) for one, two in zip(*gradients, strict=True))


@no_deadline
@given(LENGTHS, st.booleans(), st.integers(1, 20))
def test_chunks_give_the_same_states(lengths: list[int], reverse: bool, chunk: int) -> None:
    lstm, inputs = FastPackedLSTM(3, 4).double(), torch.cat(rows(lengths))
    expected = lstm(inputs, torch.tensor(lengths), reverse=reverse)
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(packed_lstm, "_CHUNK", chunk)
        found = lstm(inputs, torch.tensor(lengths), reverse=reverse)
    assert all(torch.allclose(one, two) for one, two in zip(found, expected, strict=True))


@pytest.mark.parametrize("backend", [Backend(), KernelBackend()])
@no_deadline
@given(LENGTHS)
def test_bilstm_equals_a_bidirectional_lstm(backend: Backend, lengths: list[int]) -> None:
    ours, theirs = BiLSTM(3, 4).double(), nn.LSTM(3, 2, bidirectional=True).double()
    backend.prepare(ours)
    forward, backward = ours.forward_lstm.state_dict(), ours.backward_lstm.state_dict()
    theirs.load_state_dict({**forward, **{f"{name}_reverse": weight for name, weight in backward.items()}})
    inputs = rows(lengths)
    states, last = ours(torch.cat(inputs), torch.tensor(lengths))
    packed, (expected_last, _) = theirs(pack_sequence(inputs, enforce_sorted=False))
    assert torch.allclose(states, torch.cat(unpack_sequence(packed)))
    assert torch.allclose(last, torch.cat([expected_last[0], expected_last[1]], dim=1))


class Doubled(LazyRows):
    """Twice the rows of a tensor, never materialised."""

    def __init__(self, rows: torch.Tensor) -> None:
        self.rows = rows

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.shape[0], self.rows.shape[1]

    def materialise(self) -> torch.Tensor:
        raise AssertionError("materialised")

    def multiply(self, weight: torch.Tensor) -> torch.Tensor:
        return 2 * (self.rows @ weight.t())

    def map(self, function: Callable[[torch.Tensor], torch.Tensor]) -> Doubled:  # noqa: ARG002
        raise AssertionError("mapped")


def test_lazy_rows_are_multiplied_and_not_materialised() -> None:
    lstm, inputs, lengths = FastPackedLSTM(3, 4), torch.randn(6, 3), torch.tensor([2, 3, 1])
    some = torch.tensor([0, 2, 5])
    sparse = torch.zeros(6, 3).index_copy(0, some, 2 * inputs[some])
    with torch.no_grad():
        for lazy, full in (
            (Doubled(inputs), 2 * inputs),
            (SparseRows(Doubled(inputs[some]), some, 6), sparse),
        ):
            for one, two in zip(lstm(lazy, lengths), lstm(full, lengths), strict=True):
                assert torch.allclose(one, two, atol=1e-6)


@BOTH
def test_inputs_without_gradient(kind: type[PackedLSTM]) -> None:
    lstm = kind(3, 4)
    states, _, _ = lstm(torch.randn(3, 3), torch.tensor([2, 1]))
    states.sum().backward()
    assert all(weight.grad is not None for weight in lstm.parameters())
