"""Losses: functions of logits, actions and rewards."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from babywalk.navigation.measures import THRESHOLD


def imitation_loss(logits: Tensor, teacher: Tensor) -> Tensor:
    """Mean cross-entropy of the teacher's actions (B,) under scores (B, K)."""
    return functional.cross_entropy(logits, teacher)


def progress_target(metres: Tensor, start_metres: Tensor) -> Tensor:
    """(B,) the share of the way to the goal that is done: (d_0 - d_t) / d_0, and 1 within 3 m of the goal.

    It is limited to -1, since the monitor's estimate is a tanh.
    """
    share = (start_metres - metres) / start_metres.clamp(min=torch.finfo(metres.dtype).eps)
    return share.clamp(min=-1.0).masked_fill(metres < THRESHOLD, 1.0)


def progress_loss(progress: Tensor, target: Tensor) -> Tensor:
    """Mean squared error of estimated progress (B,)."""
    return functional.mse_loss(progress, target)


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
