from __future__ import annotations

import torch

from babywalk.modules.kernels.lazy_rows import ProductCache, SparseRows, materialised, multiply


def test_products_are_computed_once() -> None:
    torch.manual_seed(0)
    table, weight = torch.randn(3000, 4), torch.randn(2, 4)
    cache = ProductCache()
    # More rows than the cache has capacity for at first.
    for rows in (torch.tensor([7, 7, 0]), torch.arange(2500), torch.tensor([2999, 0, 2400])):
        assert torch.allclose(cache.multiply(weight, table, rows), table[rows] @ weight.t(), atol=1e-6)
    table[7] = 0  # not read again
    assert cache.multiply(weight, table, torch.tensor([7])).any()


def test_products_of_different_weights_are_kept_apart() -> None:
    table, cache, rows = torch.eye(4), ProductCache(), torch.tensor([2])
    weights = torch.arange(8.0).view(2, 4), torch.arange(12.0).view(3, 4)
    found = [cache.multiply(weight, table, rows).tolist() for weight in (*weights, weights[0])]
    assert found == [[[2, 6]], [[2, 6, 10]], [[2, 6]]]


def test_tensors_are_multiplied() -> None:
    assert multiply(torch.eye(2), torch.tensor([[1.0, 2.0]])).tolist() == [[1], [2]]


def test_sparse_rows_are_zero_where_no_row_is_given() -> None:
    torch.manual_seed(0)
    given, places, weight = torch.randn(2, 3), torch.tensor([3, 1]), torch.randn(4, 3)
    rows = SparseRows(given, places, 5)
    full = torch.zeros(5, 3).index_copy(0, places, given)
    assert rows.shape == (5, 3)
    assert torch.equal(materialised(rows), full)
    assert torch.allclose(multiply(rows, weight), full @ weight.t(), atol=1e-6)
    assert torch.equal(materialised(rows.map(torch.sin)), full.sin())
    nested = SparseRows(SparseRows(given[:1], torch.tensor([1]), 2), places, 5)
    assert torch.equal(materialised(nested.map(torch.sin))[1], given[0].sin())
    assert not materialised(nested)[3].any()
