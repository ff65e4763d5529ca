from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from babywalk.policies.parts.recurrent import BothWays, backwards, run

LENGTHS = st.lists(st.integers(1, 7), min_size=1, max_size=9)


@given(LENGTHS)
def test_rows_run_as_packed_ones_do(lengths: list[int]) -> None:
    torch.manual_seed(0)
    lstm, sizes = nn.LSTM(3, 4, batch_first=True), torch.tensor(lengths)
    inputs = torch.randn(len(lengths), max(lengths), 3)
    states, last = run(lstm, inputs, sizes)
    packed, (ended, _) = lstm(pack_padded_sequence(inputs, sizes, batch_first=True, enforce_sorted=False))
    expected, _ = pad_packed_sequence(packed, batch_first=True)
    inside = torch.arange(max(lengths)) < sizes[:, None]
    assert torch.allclose(states[inside], expected[inside], atol=1e-6)
    assert torch.allclose(last, ended[0], atol=1e-6)


@given(LENGTHS)
def test_both_ways_as_a_bidirectional_one_does(lengths: list[int]) -> None:
    torch.manual_seed(0)
    ours, sizes = BothWays(3, 4), torch.tensor(lengths)
    theirs = nn.LSTM(3, 2, batch_first=True, bidirectional=True)
    forth, back = ours.forth.state_dict(), ours.back.state_dict()
    theirs.load_state_dict({**forth, **{f"{name}_reverse": weight for name, weight in back.items()}})
    inputs = torch.randn(len(lengths), max(lengths), 3)
    states, last = ours(inputs, sizes)
    packed, (ended, _) = theirs(pack_padded_sequence(inputs, sizes, batch_first=True, enforce_sorted=False))
    expected, _ = pad_packed_sequence(packed, batch_first=True)
    inside = torch.arange(max(lengths)) < sizes[:, None]
    assert torch.allclose(states[inside], expected[inside], atol=1e-6)
    assert torch.allclose(last, torch.cat([ended[0], ended[1]], dim=1), atol=1e-6)


def test_backwards_by_hand() -> None:
    rows = torch.tensor([[1, 2, 3], [4, 5, 0]])
    assert backwards(rows, torch.tensor([3, 2]))[:, :2].tolist() == [[3, 2], [5, 4]]
    assert backwards(rows[..., None], torch.tensor([3, 2])).shape == (2, 3, 1)
    assert backwards(rows, torch.tensor([1, 1]))[:, 0].tolist() == pytest.approx([1, 4])
