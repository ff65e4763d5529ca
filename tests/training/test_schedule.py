"""The learning rate over a stage of ten iterations, by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from babywalk.training.loop import schedule


@pytest.mark.parametrize(
    ("warm_up", "decay_from", "expected"),
    [
        (0, 1.0, [1] * 10),
        (4, 1.0, [0.25, 0.5, 0.75, 1, 1, 1, 1, 1, 1, 1]),
        (0, 0.5, [1, 1, 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2]),
        (2, 0.0, [0.5, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]),
    ],
)
def test_it_rises_stays_and_falls(warm_up: int, decay_from: float, expected: list[float]) -> None:
    stage = SimpleNamespace(iterations=10, warm_up=warm_up, decay_from=decay_from)
    assert [schedule(stage, iteration) for iteration in range(10)] == pytest.approx(expected)
