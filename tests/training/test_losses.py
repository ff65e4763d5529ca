from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from builders import corridor

from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError
from babywalk.common.ragged import Ragged
from babywalk.navigation.rewards import rewards
from babywalk.training.losses import discounted, entropy, imitation_loss, policy_gradient_loss
from babywalk.training.stages import decisions_left


def test_imitation_by_hand() -> None:
    """Scores 0, 0 and an impossible action: each possible one has probability 1/2."""
    logits = torch.tensor([[0.0, 0.0, -torch.inf], [math.log(3), 0.0, -torch.inf]])
    loss = imitation_loss(logits, torch.tensor([1, 0]))
    assert float(loss) == pytest.approx((math.log(2) - math.log(0.75)) / 2)


def test_returns_by_hand() -> None:
    """Walker 0 decides three times, walker 1 once; a reward at the end is worth 0.95 ** decisions left."""
    owner = torch.tensor([0, 1, 0, 0])
    left = decisions_left(owner)
    assert left.tolist() == [2, 0, 1, 0]
    worth = discounted(torch.tensor([2.0, -1.0])[owner], left, 0.95)
    assert worth.tolist() == pytest.approx([2 * 0.9025, -1, 1.9, 2])


def test_policy_gradient_by_hand() -> None:
    log_probability = torch.tensor([-1.0, -2.0], requires_grad=True)
    loss = policy_gradient_loss(log_probability, torch.tensor([0.5, -1.0]))
    assert loss.item() == pytest.approx(-(-0.5 + 2.0) / 2)
    loss.backward()
    assert log_probability.grad is not None
    assert log_probability.grad.tolist() == [-0.25, 0.5]  # the good action is pushed up, the bad one down


def test_entropy_leaves_out_what_is_impossible() -> None:
    logits = torch.tensor([[0.0, 0.0, -torch.inf]], requires_grad=True)
    value = entropy(logits)
    assert value.item() == pytest.approx(math.log(2))
    value.backward()
    assert torch.isfinite(logits.grad).all()


def test_rewards_of_whole_walks() -> None:
    houses = Houses.of([corridor("a", 6)])  # 2 m apart
    described = Ragged.of([[0, 1, 2, 3]] * 3)
    walked = Ragged.of([[0, 1, 2, 3], [0, 1, 2], [0]])
    fidelity = rewards("fidelity", houses, walked, described)
    assert fidelity[0] == pytest.approx(2)  # SR 1 and CLS 1
    assert fidelity[1] > 1  # it ends 2 m away, which is near enough
    assert fidelity[2] < 0.3
    goal = rewards("goal", houses, walked, described)
    assert goal.tolist() == pytest.approx([6 + 1, 4 + 1, 0])
    assert rewards("sdtw", houses, walked, described)[0] == pytest.approx(1)
    assert np.all(rewards("ndtw", houses, walked, described) >= rewards("sdtw", houses, walked, described))
    with pytest.raises(ConfigError, match=r"Reward 'fidelty' is not known\. Did you mean 'fidelity'\?"):
        rewards("fidelty", houses, walked, described)
