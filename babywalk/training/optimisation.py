"""The optimiser of a stage: Adam, its learning-rate schedule, one clipped step, and averaged weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from babywalk.training.stage import Stage


def new_optimiser(network: nn.Module, stage: Stage) -> torch.optim.Optimizer:
    """Adam with L2 regularisation, as in the paper."""
    learned = [weight for weight in network.parameters() if weight.requires_grad]
    # Fused: one pass over weights, gradients and moments.
    return torch.optim.Adam(learned, lr=stage.learning_rate, weight_decay=stage.weight_decay, fused=True)


def learning_rate_factor(stage: Stage, iteration: int) -> float:
    """The factor of the learning rate at an iteration: linear warm-up, constant, linear decay."""
    warm_up = min(1.0, (iteration + 1) / stage.warm_up) if stage.warm_up else 1.0
    first = stage.decay_from * stage.iterations
    decay = 1.0 if iteration < first else (stage.iterations - iteration) / max(1.0, stage.iterations - first)
    return warm_up * decay


def gradient_step(
    network: nn.Module, optimiser: torch.optim.Optimizer, loss: Tensor, clip: float, *, apart: str = ""
) -> float:
    """One optimiser step with the gradient clipped to a norm; returns the norm before clipping.

    Weights whose names start with `apart` are clipped apart from the others.

    If the loss or its gradient is NaN or infinite, the weights stay as they are and FloatingPointError is
    raised.
    """
    if not math.isfinite(float(loss.detach())):
        raise FloatingPointError("the loss is NaN or infinite")
    optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]  # torch does not type it
    groups: dict[bool, list[nn.Parameter]] = {}
    for name, weight in network.named_parameters():
        if weight.grad is not None:
            groups.setdefault(bool(apart) and name.startswith(apart), []).append(weight)
    norms = [
        get_total_norm([weight.grad for weight in group if weight.grad is not None])
        for group in groups.values()
    ]
    norm = math.hypot(*map(float, norms))
    if not math.isfinite(norm):
        raise FloatingPointError("the gradient is NaN or infinite")
    for group, own in zip(groups.values(), norms, strict=True):
        if own > clip:  # else torch would multiply all gradients by one
            clip_grads_with_norm_(group, clip, own)
    optimiser.step()
    return norm


class WeightAverage:
    """The exponential moving average of a network's weights within a stage; none with a decay of 0."""

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.network, self.decay = network, decay
        self.weights: dict[str, Tensor] | None = None  # None before the first update

    def reset(self) -> None:
        """Start a new average."""
        self.weights = None

    def restore(self, weights: Mapping[str, Tensor]) -> None:
        """Continue from the weights of a checkpoint, which has none without averaging."""
        device = next(self.network.parameters()).device
        self.weights = {name: weight.to(device) for name, weight in weights.items()} or None

    def update(self, iteration: int) -> None:
        """Add the weights after an iteration."""
        if not self.decay:
            return
        if self.weights is None:
            self.weights = _copy(self.network)
            return
        # A lower decay in early iterations: the initial weights lose their influence sooner.
        decay = min(self.decay, (1 + iteration) / (10 + iteration))
        for name, weight in self.network.state_dict().items():
            self.weights[name].lerp_(weight, 1 - decay)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Inside, the network has the averaged weights, if there are any."""
        if self.weights is None:
            yield
            return
        own = _copy(self.network)
        self.network.load_state_dict(self.weights)
        try:
            yield
        finally:
            self.network.load_state_dict(own)


def _copy(network: nn.Module) -> dict[str, Tensor]:
    return {name: weight.clone() for name, weight in network.state_dict().items()}
