"""The losses, checked by hand."""

from __future__ import annotations

import math

import pytest
import torch

from babywalk.training.losses import (
    discounted,
    entropy,
    imitation_loss,
    policy_gradient_loss,
    progress_loss,
    progress_target,
)
from babywalk.training.reinforcement import decisions_left


def test_imitation_loss() -> None:
    """Logits 0, 0 and an impossible action: each possible one has probability 1/2."""
    logits = torch.tensor([[0.0, 0.0, -torch.inf], [math.log(3), 0.0, -torch.inf]])
    loss = imitation_loss(logits, torch.tensor([1, 0]))
    assert float(loss) == pytest.approx((math.log(2) - math.log(0.75)) / 2)


def test_returns_are_discounted() -> None:
    """Walker 0 decides three times, walker 1 once; a reward is discounted by 0.95 ** decisions left."""
    owner = torch.tensor([0, 1, 0, 0])
    left = decisions_left(owner)
    assert left.tolist() == [2, 0, 1, 0]
    returns = discounted(torch.tensor([2.0, -1.0])[owner], left, 0.95)
    assert returns.tolist() == pytest.approx([2 * 0.9025, -1, 1.9, 2])


def test_policy_gradient_loss() -> None:
    log_probability = torch.tensor([-1.0, -2.0], requires_grad=True)
    loss = policy_gradient_loss(log_probability, torch.tensor([0.5, -1.0]))
    assert loss.item() == pytest.approx(-(-0.5 + 2.0) / 2)
    loss.backward()
    assert log_probability.grad is not None
    assert log_probability.grad.tolist() == [-0.25, 0.5]  # raises the good action, lowers the bad one


def test_entropy_ignores_impossible_actions() -> None:
    logits = torch.tensor([[0.0, 0.0, -torch.inf]], requires_grad=True)
    value = entropy(logits)
    assert value.item() == pytest.approx(math.log(2))
    value.backward()
    assert torch.isfinite(logits.grad).all()


def test_progress_is_the_share_of_the_way_and_one_near_the_goal() -> None:
    """Of 12 m, 9 and 12 are left; 24, as far back; 40, limited; 3, not yet within 3 m; 2.9, within."""
    left = torch.tensor([9.0, 12.0, 24.0, 40.0, 3.0, 2.9])
    target = progress_target(left, torch.full((6,), 12.0))
    assert target.tolist() == pytest.approx([0.25, 0.0, -1.0, -1.0, 0.75, 1.0])
    # A path that ends where it starts.
    assert progress_target(torch.tensor([0.0, 5.0]), torch.zeros(2)).tolist() == [1.0, -1.0]
    assert progress_loss(torch.tensor([0.5, 1.0]), torch.tensor([0.0, 1.0])).item() == pytest.approx(0.125)
