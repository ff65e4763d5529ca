from __future__ import annotations

import torch

from babywalk.modules.kernels.product_cache import ProductCache, through


def test_a_product_is_made_once_and_found_again() -> None:
    torch.manual_seed(0)
    table, weight = torch.randn(3000, 4), torch.randn(2, 4)
    album = ProductCache()
    for rows in (torch.tensor([7, 7, 0]), torch.arange(2500), torch.tensor([2999, 0, 2400])):  # and grows
        assert torch.allclose(album.through(weight, table, rows), table[rows] @ weight.t(), atol=1e-6)
    table[7] = 0  # nobody looks
    assert album.through(weight, table, torch.tensor([7])).any()


def test_one_weight_is_not_taken_for_another() -> None:
    table, album, rows = torch.eye(4), ProductCache(), torch.tensor([2])
    weights = torch.arange(8.0).view(2, 4), torch.arange(12.0).view(3, 4)
    found = [album.through(weight, table, rows).tolist() for weight in (*weights, weights[0])]
    assert found == [[[2, 6]], [[2, 6, 10]], [[2, 6]]]


def test_plain_numbers_are_multiplied() -> None:
    assert through(torch.eye(2), torch.tensor([[1.0, 2.0]])).tolist() == [[1], [2]]
