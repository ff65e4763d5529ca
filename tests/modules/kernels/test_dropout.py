from __future__ import annotations

import pytest
import torch

from babywalk.modules.kernels.dropout import FastDropout, dropout_mask
from babywalk.modules.kernels.lazy_rows import SparseRows


def mask(*shape: int, rate: float, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return dropout_mask(torch.Size(shape), rate, dtype=dtype, device=torch.device("cpu"))


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.8])
def test_the_rate_is_dropped_and_the_mean_is_kept(rate: float) -> None:
    torch.manual_seed(0)
    drawn = mask(1000, 401, rate=rate, dtype=torch.float64)
    assert float((drawn == 0).double().mean()) == pytest.approx(rate, abs=0.005)
    assert float(drawn.mean()) == pytest.approx(1, abs=0.01)
    assert len(drawn.unique()) == 2
    # Neighbours share a 64-bit draw, and are dropped independently.
    both = ((drawn[:, 1:] == 0) & (drawn[:, :-1] == 0)).double().mean()
    assert float(both) == pytest.approx(rate**2, abs=0.005)


def test_at_any_rate_some_elements_are_kept() -> None:
    drawn = mask(4096, rate=0.9999)
    assert drawn.unique().tolist() == [0, 256]


def test_the_same_seed_gives_the_same_mask() -> None:
    masks = []
    for _ in range(2):
        torch.manual_seed(3)
        masks.append(mask(5, 7, rate=0.5))
    assert torch.equal(*masks)


def test_nothing_is_dropped_in_evaluation_or_at_rate_0() -> None:
    units = torch.ones(50)
    assert torch.equal(FastDropout(0.5).eval()(units), units)
    assert torch.equal(FastDropout(0.0)(units), units)
    assert set(FastDropout(0.5)(units).tolist()) == {0.0, 2.0}


def test_sparse_rows_are_dropped_without_being_materialised() -> None:
    rows = SparseRows(torch.ones(3, 4), torch.tensor([0, 2, 5]), 6)
    assert torch.equal(FastDropout(0.5).eval()(rows).materialise(), rows.materialise())
    dropped = FastDropout(0.5)(rows)
    assert isinstance(dropped, SparseRows)
    assert set(dropped.given.flatten().tolist()) == {0.0, 2.0}
    assert not dropped.materialise()[[1, 3, 4]].any()
