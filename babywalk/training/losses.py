"""Losses: functions of logits, actions and rewards."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def imitation_loss(logits: Tensor, teacher: Tensor) -> Tensor:
    """Mean cross-entropy of the teacher's actions (B,) under scores (B, K)."""
    return functional.cross_entropy(logits, teacher)


def discounted(reward: Tensor, left: Tensor, discount: float) -> Tensor:
    """(B,) a reward at the end, discounted by the `left` decisions before it: discount ** left * reward."""
    return reward * discount**left


def policy_gradient_loss(log_probability: Tensor, advantage: Tensor) -> Tensor:
    """REINFORCE: minus the mean of log pi(a) times its advantage, over decisions (B,)."""
    return -(log_probability * advantage).mean()


def entropy(logits: Tensor) -> Tensor:
    """Mean entropy of softmax(logits), (B, K); impossible actions have logits of -inf."""
    # 0 * -inf is NaN, and so would be its gradient: impossible actions are masked before the product.
    log_probability = logits.log_softmax(dim=1).masked_fill(torch.isinf(logits), 0.0)
    return -(logits.softmax(dim=1) * log_probability).sum(dim=1).mean()
