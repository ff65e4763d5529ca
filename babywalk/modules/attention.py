"""Looking and reading: which views and which words matter for the walker's current state."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from babywalk.modules.kernels.deferred_gradients import Linear
from babywalk.modules.kernels.observation import AttendedViews, Observation
from babywalk.modules.kernels.text_batch import TextBatch


class ViewAttention(nn.Module):
    """Look at the views that matter: a linear query from the state, a dot product with each view.

    Shapes: B walkers, S views, F numbers per view, D hidden units.
    """

    def __init__(self, hidden: int, view_width: int) -> None:
        super().__init__()
        self.query = Linear(hidden, view_width, bias=False)

    def forward(
        self, state: Tensor, scene: Observation
    ) -> tuple[AttendedViews, Tensor]:  # B of them, weights (B, S)
        """Attend to what lies around."""
        return scene.look(self.query(state))

    def among(
        self,
        state: Tensor,  # (B, D)
        views: Tensor,  # (B, S, F)
        absent: Tensor,  # (B, S) bool, True where there is no view
    ) -> tuple[Tensor, Tensor]:  # seen (B, F), weights (B, S)
        """Attend to views that are laid out."""
        score = torch.bmm(views, self.query(state)[..., None])[..., 0]
        weights = score.masked_fill(absent, -torch.inf).softmax(dim=1)
        return torch.bmm(weights[:, None], views)[:, 0], weights


class SoftDot(nn.Module):
    """Read the words that matter for the walker's state: a linear query, a dot product with each word.

    Shapes: B walkers, L words (padded), D hidden units.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.query = Linear(hidden, hidden, bias=False)

    def forward(
        self,
        state: Tensor,  # (B, D)
        readers: TextBatch,  # B of them
        places: Tensor | None = None,  # (L, D) what the place of a word adds to it
    ) -> tuple[Tensor, Tensor]:  # context (B, D), weights (B, L)
        """Attend."""
        query = self.query(state)
        score = readers.compared(query)
        if places is not None:
            score = score + query @ places.t()
        weights = score.masked_fill(readers.padding, -torch.inf).softmax(dim=1)
        context = readers.mixed(weights)
        return context if places is None else context + weights @ places, weights


class WordAttention(nn.Module):
    """Soft dot with a tanh output layer that joins words and state. Shapes as in SoftDot."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.read = SoftDot(hidden)
        self.out = Linear(2 * hidden, hidden, bias=False)

    def forward(
        self,
        state: Tensor,  # (B, D)
        readers: TextBatch,  # B of them
    ) -> tuple[Tensor, Tensor]:  # state and words as one (B, D), weights (B, L)
        """Attend."""
        context, weights = self.read(state, readers)
        return torch.tanh(self.out(context, state)), weights
