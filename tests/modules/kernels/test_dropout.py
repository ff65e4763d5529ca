from __future__ import annotations

import pytest
import torch

from babywalk.modules.kernels.dropout import Dropout, kept


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_a_share_is_dropped_and_the_mean_kept(share: float) -> None:
    torch.manual_seed(0)
    mask = kept(torch.Size([1000, 401]), share, torch.float64)
    assert float((mask == 0).double().mean()) == pytest.approx(share, abs=0.005)
    assert float(mask.mean()) == pytest.approx(1, abs=0.01)
    assert len(mask.unique()) == 2
    # Neighbours, who share a draw, are dropped independently.
    both = ((mask[:, 1:] == 0) & (mask[:, :-1] == 0)).double().mean()
    assert float(both) == pytest.approx(share**2, abs=0.005)


def test_some_are_kept_of_any_share() -> None:
    mask = kept(torch.Size([4096]), 0.9999, torch.float32)
    assert mask.unique().tolist() == [0, 256]


def test_the_seed_decides() -> None:
    masks = []
    for _ in range(2):
        torch.manual_seed(3)
        masks.append(kept(torch.Size([5, 7]), 0.5, torch.float32))
    assert torch.equal(*masks)


def test_nothing_is_dropped_in_evaluation() -> None:
    units = torch.ones(50)
    assert torch.equal(Dropout(0.5).eval()(units), units)
    assert torch.equal(Dropout(0.0)(units), units)
    assert set(Dropout(0.5)(units).tolist()) == {0.0, 2.0}
