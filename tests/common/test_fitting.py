"""The training helper on a line that is to be fitted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from babywalk.common.fitting import fit, seeded_torch, shuffled_groups

X = torch.linspace(-1, 1, 40)[:, None]
Y = 3 * X - 1


def line(*, epochs: int = 60) -> nn.Linear:
    with seeded_torch(0, "line"):
        network = nn.Linear(1, 1)
    fit(
        network,
        lambda epoch: shuffled_groups(np.arange(40), 4, np.random.default_rng(epoch)),
        lambda rows: (network(X[rows]) - Y[rows]).square().mean(),
        label="Fitting",
        epochs=epochs,
        learning_rate=0.1,
        weight_decay=0.0,
    )
    return network


def test_the_loss_is_minimised() -> None:
    network = line()
    assert network.weight.item() == pytest.approx(3, abs=0.05)
    assert network.bias.item() == pytest.approx(-1, abs=0.05)
    assert not network.training


def test_equal_seeds_give_equal_weights_whatever_was_drawn_before() -> None:
    torch.manual_seed(1)
    first = line(epochs=1)
    torch.manual_seed(2)
    second = line(epochs=1)
    assert torch.equal(first.weight, second.weight)


def test_seeded_torch_restores_the_state_of_the_generator() -> None:
    torch.manual_seed(1)
    expected = torch.rand(3, device="cpu")
    torch.manual_seed(1)
    with seeded_torch(0, "a"):
        inside = torch.rand(3, device="cpu")
    assert torch.equal(torch.rand(3, device="cpu"), expected)
    with seeded_torch(0, "b"):
        assert not torch.equal(torch.rand(3, device="cpu"), inside)


def test_gradients_are_clipped() -> None:
    norms: list[float] = []
    network = nn.Linear(1, 1)

    def loss(rows: NDArray[np.int64]) -> torch.Tensor:
        if network.weight.grad is not None:  # that of the batch before
            norms.append(float(network.weight.grad.norm()))
        return 100 * (network(X[rows]) - Y[rows]).square().mean()

    fit(
        network,
        lambda _: [np.arange(40)] * 3,
        loss,
        label="Fitting",
        epochs=1,
        learning_rate=1e-6,
        weight_decay=0.0,
        max_norm=0.5,
    )
    assert len(norms) == 2
    assert max(norms) <= 0.5


def test_groups_keep_neighbours_together() -> None:
    groups = shuffled_groups(np.arange(10), 3, np.random.default_rng(0))
    assert sorted(len(group) for group in groups) == [3, 3, 4]
    assert np.sort(np.concatenate(groups)).tolist() == list(range(10))
    assert all((np.diff(group) == 1).all() for group in groups)
    assert len(shuffled_groups(np.arange(2), 0, np.random.default_rng(0))) == 1


def test_training_uses_one_thread_whatever_is_set() -> None:
    before, used = torch.get_num_threads(), []
    layer = nn.Linear(1, 1)

    def loss(_: NDArray[np.int64]) -> torch.Tensor:
        used.append(torch.get_num_threads())
        return layer.weight.sum()

    torch.set_num_threads(2)
    try:
        fit(
            layer,
            lambda _: [np.arange(1)],
            loss,
            label="Training",
            epochs=2,
            learning_rate=0.1,
            weight_decay=0.0,
        )
        assert used == [1, 1]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


class InterruptedTrainingError(Exception):
    pass


def noisy(checkpoint: Path, *, stop_at: int | None = None, epochs: int = 5) -> tuple[torch.Tensor, int]:
    """The weights after training with dropout, and how many batches this took; stopped at one of them."""
    count = 0
    with seeded_torch(0, "noisy"):
        network = nn.Sequential(nn.Linear(1, 8), nn.Dropout(0.5), nn.Linear(8, 1))

        def loss(rows: NDArray[np.int64]) -> torch.Tensor:
            nonlocal count
            if count == stop_at:
                raise InterruptedTrainingError
            count += 1
            return (network(X[rows]) - Y[rows]).square().mean()

        fit(
            network,
            lambda epoch: shuffled_groups(np.arange(40), 4, np.random.default_rng(epoch)),
            loss,
            label="Fitting",
            epochs=epochs,
            learning_rate=0.1,
            weight_decay=0.1,
            checkpoint=checkpoint,
        )
    return torch.cat([weight.flatten() for weight in network.state_dict().values()]), count


def test_an_interrupted_training_ends_with_the_same_weights(tmp_path: Path) -> None:
    whole, batches = noisy(tmp_path / "whole")
    assert batches == 20
    for stop_at in (2, 6):  # before the first checkpoint, and in the second epoch after the last one
        with pytest.raises(InterruptedTrainingError):
            noisy(tmp_path / "checkpoint", stop_at=stop_at)
    resumed, batches = noisy(tmp_path / "checkpoint")
    assert torch.equal(resumed, whole)
    assert batches == 20 - 4  # after stopping at 6 only the first epoch was finished; the rest is done again
    again, batches = noisy(tmp_path / "checkpoint")
    assert torch.equal(again, whole)
    assert batches == 0


def test_a_damaged_checkpoint_is_not_used(tmp_path: Path) -> None:
    whole, _ = noisy(tmp_path / "checkpoint")
    content = bytearray((tmp_path / "checkpoint").read_bytes())
    content[-5] ^= 1
    (tmp_path / "checkpoint").write_bytes(content)
    again, batches = noisy(tmp_path / "checkpoint")
    assert torch.equal(again, whole)
    assert batches == 20
