"""One step down a gradient that is known: (3, 4), of norm 5."""

from __future__ import annotations

import pytest
import torch

from babywalk.training.loop import descend


@pytest.mark.parametrize(
    ("clip", "expected"), [(10.0, [-3.0, -4.0]), (5.0, [-3.0, -4.0]), (1.0, [-0.6, -0.8])]
)
def test_a_step_is_clipped_to_a_norm(clip: float, expected: list[float]) -> None:
    layer = torch.nn.Linear(2, 1, bias=False)
    idle = torch.nn.Linear(1, 1)  # has no gradient
    torch.nn.init.zeros_(layer.weight)
    network = torch.nn.ModuleList([layer, idle])
    optimiser = torch.optim.SGD(network.parameters(), lr=1.0)
    for step in (1, 2):  # the second finds no gradient of the first
        norm = descend(network, optimiser, layer(torch.tensor([3.0, 4.0])).sum(), clip)
        assert norm == pytest.approx(5)
        assert layer.weight[0].tolist() == pytest.approx([step * number for number in expected], abs=1e-5)
