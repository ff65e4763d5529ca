"""Products computed in pieces against plain ones."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from babywalk.modules.kernels import matmul
from babywalk.modules.kernels.matmul import add_product, product


@pytest.fixture(autouse=True, scope="module")
def split_small_weights() -> object:
    """Weights of any size are split, into pieces of any number of outputs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matmul, "_MIN_WEIGHT", 1)
        patch.setattr(matmul, "_MIN_OUTPUTS", 1)
        patch.setattr(torch, "get_num_threads", lambda: 2)
        yield


@given(
    rows=st.integers(1, 9),
    widths=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    outputs=st.integers(1, 17),
    transposed=st.booleans(),
)
def test_product_in_pieces_equals_the_plain_product(
    rows: int, widths: list[int], outputs: int, transposed: bool
) -> None:
    """For weights that are columns of one matrix, row-major or column-major."""
    torch.manual_seed(0)
    whole = torch.randn(outputs, sum(widths), dtype=torch.float64)
    if transposed:
        whole = whole.t().contiguous().t()
    parts = [torch.randn(rows, width, dtype=torch.float64) for width in widths]
    found = product(parts, whole.split(widths, dim=1))
    assert torch.allclose(found, torch.cat(parts, dim=1) @ whole.t())
    sums = torch.randn(rows, outputs, dtype=torch.float64)
    expected = sums + torch.cat(parts, dim=1) @ whole.t()
    add_product(sums, torch.cat(parts, dim=1), whole)
    assert torch.allclose(sums, expected)


def test_gradients_of_a_product_in_pieces_are_correct() -> None:
    parts = [torch.randn(5, width, dtype=torch.float64, requires_grad=True) for width in (3, 2)]
    weights = [torch.randn(6, width, dtype=torch.float64, requires_grad=True) for width in (3, 2)]
    assert torch.autograd.gradcheck(lambda *inputs: product(inputs[:2], inputs[2:]), (*parts, *weights))


def test_number_of_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    def pieces(rows: int, outputs: int) -> int:
        return matmul._pieces(torch.empty(rows, 3), torch.empty(outputs, 3))

    assert pieces(100, 2048) == 8  # four for each of two threads
    assert pieces(100, 18) == 6  # equal pieces
    assert pieces(100, 7) == 7
    assert pieces(1, 2048) == pieces(320, 2048) == 8
    assert pieces(321, 2048) == 1
    monkeypatch.setattr(matmul, "_MIN_OUTPUTS", 64)
    assert pieces(100, 256) == 4
    assert pieces(100, 63) == 1
    assert matmul._pieces(torch.empty(9, 9, 3), torch.empty(9, 256, 3)) == 1  # batches are not split
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    assert pieces(100, 2048) == 1
