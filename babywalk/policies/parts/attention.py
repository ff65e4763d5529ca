"""Looking: which views and which words matter for the walker's current state."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ViewAttention(nn.Module):
    """Look at the views that matter: a linear query from the state, a dot product with each view.

    Shapes: B walkers, S views, F numbers per view, D hidden units.
    """

    def __init__(self, hidden: int, view_width: int) -> None:
        super().__init__()
        self.query = nn.Linear(hidden, view_width, bias=False)

    def forward(
        self,
        state: Tensor,  # (B, D)
        views: Tensor,  # (B, S, F)
        absent: Tensor | None = None,  # (B, S) bool, True where there is no view
    ) -> tuple[Tensor, Tensor]:  # seen (B, F), weights (B, S)
        """Attend."""
        score = torch.bmm(views, self.query(state)[..., None])[..., 0]
        if absent is not None:
            score = score.masked_fill(absent, -torch.inf)
        weights = score.softmax(dim=1)
        return torch.bmm(weights[:, None], views)[:, 0], weights


class SoftDot(nn.Module):
    """Read the words that matter for the walker's state: a linear query, a dot product with each word.

    Shapes: B walkers, L words (padded), D hidden units.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.query = nn.Linear(hidden, hidden, bias=False)

    def forward(
        self,
        state: Tensor,  # (B, D)
        words: Tensor,  # (B, L, D)
        padding: Tensor,  # (B, L) bool, True where there is no word
    ) -> tuple[Tensor, Tensor]:  # context (B, D), weights (B, L)
        """Attend."""
        score = torch.bmm(words, self.query(state)[..., None])[..., 0]
        weights = score.masked_fill(padding, -torch.inf).softmax(dim=1)
        return torch.bmm(weights[:, None], words)[:, 0], weights


class WordAttention(nn.Module):
    """Soft dot with a tanh output layer that joins words and state. Shapes as in SoftDot."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.read = SoftDot(hidden)
        self.out = nn.Linear(2 * hidden, hidden, bias=False)

    def forward(
        self,
        state: Tensor,  # (B, D)
        words: Tensor,  # (B, L, D)
        padding: Tensor,  # (B, L) bool, True where there is no word
    ) -> tuple[Tensor, Tensor]:  # state and words as one (B, D), weights (B, L)
        """Attend."""
        context, weights = self.read(state, words, padding)
        return torch.tanh(self.out(torch.cat([context, state], dim=1))), weights
