"""The landmark classifier of the paper's appendix A.2: a small convolutional network over a panorama."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from babywalk.buildings.panorama import COLUMNS, ROWS


class LandmarkClassifier(nn.Module):
    """How much the views around a viewpoint speak for each landmark.

    Shapes: B viewpoints, D numbers per view, V landmarks.
    """

    def __init__(self, width: int, landmarks: int, *, channels: int, hidden: int) -> None:
        super().__init__()
        self.near = nn.Conv2d(width, channels, kernel_size=3)
        self.wide = nn.Conv2d(channels, channels, kernel_size=3)
        self.hidden = nn.Linear(channels, hidden)
        self.logits = nn.Linear(hidden, landmarks)

    def forward(self, views: Tensor) -> Tensor:  # (B, 36, D) -> (B, V)
        """The logits of viewpoints from their views."""
        grid = views.transpose(1, 2).reshape(len(views), -1, ROWS, COLUMNS)  # (B, D, 3, 12)
        for layer in (self.near, self.wide):
            grid = functional.relu(layer(_around(grid)))
        scores: Tensor = self.logits(functional.relu(self.hidden(grid.mean(dim=(2, 3)))))
        return scores


def _around(grid: Tensor) -> Tensor:
    """One more column on both sides, since headings close a circle; zeros above and below."""
    circle = functional.pad(grid, (1, 1, 0, 0), mode="circular")
    return functional.pad(circle, (0, 0, 1, 1))
