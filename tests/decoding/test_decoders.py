"""Choosing actions by their scores."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from square import square_batches, square_model, square_observer, square_task

from babywalk.decoding.decoders import Greedy, NonFiniteError, Sample, StepwiseDecoder
from babywalk.decoding.rollout import Rollout
from babywalk.modules.decoder import Decision, State
from babywalk.modules.kernels import KERNELS

ONE = torch.zeros(1, 1)


def decision(logits: list[list[float]]) -> Decision:
    return Decision(torch.tensor(logits), State(ONE, ONE, ONE), ONE, ONE)


@pytest.mark.parametrize("decoder", [Greedy(), Sample()])
@pytest.mark.parametrize("kernels", KERNELS)
def test_logits_with_nan_raise_an_error(decoder: StepwiseDecoder, kernels: str) -> None:
    task = square_task()
    observer = square_observer(task)
    network = square_model(observer).network
    with torch.no_grad():
        network.first_hidden.weight.fill_(torch.nan)
    rollout = Rollout(network, observer, kernels=kernels)
    with pytest.raises(NonFiniteError, match="the logits contain NaN"):
        decoder.decode(rollout, square_batches(task).full(np.array([0])))


def test_greedy_takes_the_highest_score() -> None:
    scores = decision([[0.0, 2.0, 1.0], [3.0, -torch.inf, 1.0]])
    assert Greedy()(scores, None).tolist() == [1, 0]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_sample_draws_from_the_softmax_at_its_temperature(temperature: float) -> None:
    torch.manual_seed(0)
    logits = torch.tensor([0.0, 1.0, -torch.inf])
    drawn = Sample(temperature)(decision([logits.tolist()] * 20_000), None)
    frequencies = torch.bincount(drawn, minlength=3) / len(drawn)
    expected = (logits / temperature).softmax(dim=0)
    assert frequencies[2] == 0
    assert torch.allclose(frequencies, expected, atol=0.02)


def test_decode_returns_the_trajectories_of_a_rollout() -> None:
    task = square_task()
    observer = square_observer(task)
    rollout = Rollout(square_model(observer).network.eval(), observer)
    batch = square_batches(task).full(np.array([0, 1]))
    found, expected = Greedy().decode(rollout, batch), rollout.run(batch, Greedy()).trajectories()
    assert found.viewpoints.values.tolist() == expected.viewpoints.values.tolist()
    assert len(found) == 2
