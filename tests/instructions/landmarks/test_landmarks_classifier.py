from __future__ import annotations

import torch

from babywalk.instructions.landmarks.classifier import LandmarkClassifier


def network(width: int = 5, landmarks: int = 4) -> LandmarkClassifier:
    torch.manual_seed(0)
    return LandmarkClassifier(width, landmarks, channels=8, hidden=16)


def test_shapes() -> None:
    assert network()(torch.randn(3, 36, 5)).shape == (3, 4)


def test_headings_close_a_circle() -> None:
    views = torch.randn(2, 36, 5)
    turned = views.reshape(2, 3, 12, 5).roll(5, dims=2).reshape(2, 36, 5)
    torch.testing.assert_close(network()(turned), network()(views))


def test_up_is_not_down() -> None:
    views = torch.randn(2, 36, 5)
    flipped = views.reshape(2, 3, 12, 5).flip(1).reshape(2, 36, 5)
    assert not torch.allclose(network()(flipped), network()(views))
