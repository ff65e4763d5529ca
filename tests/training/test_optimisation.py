"""Optimiser steps, schedules and averaged weights, checked by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from babywalk.training.optimisation import WeightAverage, gradient_step, learning_rate_factor, new_optimiser


def linear(*weights: float) -> torch.nn.Linear:
    """A layer whose gradient under the loss below is (3, 4), of norm 5."""
    layer = torch.nn.Linear(len(weights), 1, bias=False)
    layer.weight.data = torch.tensor([weights])
    return layer


@pytest.mark.parametrize(
    ("clip", "expected"), [(10.0, [-3.0, -4.0]), (5.0, [-3.0, -4.0]), (1.0, [-0.6, -0.8])]
)
def test_gradient_is_clipped_to_a_norm(clip: float, expected: list[float]) -> None:
    layer = linear(0.0, 0.0)
    unused = torch.nn.Linear(1, 1)  # has no gradient
    network = torch.nn.ModuleList([layer, unused])
    optimiser = torch.optim.SGD(network.parameters(), lr=1.0)
    for step in (1, 2):  # gradients do not add up over steps
        norm = gradient_step(network, optimiser, layer(torch.tensor([3.0, 4.0])).sum(), clip)
        assert norm == pytest.approx(5)
        assert layer.weight[0].tolist() == pytest.approx([step * number for number in expected], abs=1e-5)


@pytest.mark.parametrize(("value", "what"), [(torch.nan, "loss"), (torch.inf, "loss"), (0.0, "gradient")])
def test_weights_stay_where_loss_or_gradient_is_not_finite(value: float, what: str) -> None:
    layer = linear(0.0, 0.0)
    # The square root of 0 has an infinite gradient.
    loss = layer(torch.tensor([3.0, 4.0])).sum().sqrt() + value
    with pytest.raises(FloatingPointError, match=f"the {what} is NaN or infinite"):
        gradient_step(layer, torch.optim.SGD(layer.parameters(), lr=1.0), loss, 1.0)
    assert layer.weight[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("decay", "expected"), [(0.5, [2.9, -3.9]), (0.0, [3.0, -4.0])])
def test_weights_decay(decay: float, expected: list[float]) -> None:
    """With a loss of zero, the first step of Adam is the learning rate, towards zero."""
    layer = linear(3.0, -4.0)
    optimiser = new_optimiser(layer, SimpleNamespace(learning_rate=0.1, weight_decay=decay))
    gradient_step(layer, optimiser, 0 * layer(torch.ones(2)).sum(), 1.0)
    assert layer.weight[0].tolist() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("warm_up", "decay_from", "expected"),
    [
        (0, 1.0, [1] * 10),
        (4, 1.0, [0.25, 0.5, 0.75, 1, 1, 1, 1, 1, 1, 1]),
        (0, 0.5, [1, 1, 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2]),
        (2, 0.0, [0.5, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]),
    ],
)
def test_learning_rate_rises_stays_and_falls(warm_up: int, decay_from: float, expected: list[float]) -> None:
    stage = SimpleNamespace(iterations=10, warm_up=warm_up, decay_from=decay_from)
    assert [learning_rate_factor(stage, iteration) for iteration in range(10)] == pytest.approx(expected)


def test_average_has_a_lower_decay_in_early_iterations() -> None:
    layer = linear(1.0, 1.0)
    average = WeightAverage(layer, 0.5)
    average.update(0)  # copies the weights
    layer.weight.data = torch.tensor([[2.0, 2.0]])
    average.update(1)  # decay 2 / 11
    assert average.weights is not None
    mean = 2 - 2 / 11
    assert average.weights["weight"][0].tolist() == pytest.approx([mean, mean])
    average.update(100)  # decay 0.5
    assert average.weights["weight"][0].tolist() == pytest.approx([(mean + 2) / 2] * 2)


def test_averaged_weights_are_applied_and_taken_back() -> None:
    layer = linear(1.0, 1.0)
    average = WeightAverage(layer, 0.5)
    average.restore({"weight": torch.tensor([[5.0, 6.0]])})
    with average.applied():
        assert layer.weight[0].tolist() == [5.0, 6.0]
    assert layer.weight[0].tolist() == [1.0, 1.0]
    average.reset()
    with average.applied():
        assert layer.weight[0].tolist() == [1.0, 1.0]


def test_without_decay_there_is_no_average() -> None:
    average = WeightAverage(linear(1.0, 1.0), 0.0)
    average.update(0)
    assert average.weights is None
    average.restore({})  # of a checkpoint
    assert average.weights is None


def test_parts_of_a_network_are_clipped_apart() -> None:
    """Gradients (3, 4) and (0, 0.5), clipped to 1: the first is scaled to (0.6, 0.8), the second stays."""
    network = torch.nn.ModuleDict({"text": linear(0.0, 0.0), "decoder": linear(0.0, 0.0)})
    optimiser = torch.optim.SGD(network.parameters(), lr=1.0)
    slopes = {"text": torch.tensor([3.0, 4.0]), "decoder": torch.tensor([0.0, 0.5])}
    loss = sum((network[name].weight[0] * slope).sum() for name, slope in slopes.items())
    norm = gradient_step(network, optimiser, loss, 1.0, apart="text.")
    assert norm == pytest.approx((25 + 0.25) ** 0.5)
    assert network["text"].weight[0].tolist() == pytest.approx([-0.6, -0.8])
    assert network["decoder"].weight[0].tolist() == pytest.approx([0, -0.5])
