"""Attention over views and over words."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from babywalk.modules.layers import Linear
from babywalk.modules.observation import Observation
from babywalk.modules.text_encoder import TextBatch


class ViewAttention(nn.Module):
    """Attention over views: a linear query from the hidden state, a dot product with each view.

    With a projection, query and views are projected to P features before they are compared:
    q . (W v + b) = (W^T q) . v + constant, so that W is applied to the query, and b is not needed.
    Shapes: B walkers, S views, F features per view, D hidden units.
    """

    def __init__(self, hidden: int, view_width: int, projection: int = 0) -> None:
        super().__init__()
        self.query = Linear(hidden, projection or view_width, bias=projection > 0)
        self.view_projection = nn.Linear(view_width, projection, bias=False) if projection else None

    def forward(self, hidden: Tensor, observation: Observation) -> tuple[Tensor, Tensor]:
        """Over the panorama: the attended view (B, F), the weights (B, S)."""
        return observation.attend(self._query(hidden))

    def over(
        self,
        hidden: Tensor,  # (B, D)
        views: Tensor,  # (B, S, F)
        present: Tensor,  # (B, S) bool, True where there is a view
    ) -> tuple[Tensor, Tensor]:  # (B, F), (B, S)
        """Over given vectors."""
        score = torch.bmm(views, self._query(hidden)[..., None])[..., 0]
        weights = score.masked_fill(~present, -torch.inf).softmax(dim=1)
        return torch.bmm(weights[:, None], views)[:, 0], weights

    def _query(self, hidden: Tensor) -> Tensor:  # (B, F)
        query: Tensor = self.query(hidden)
        return query if self.view_projection is None else query @ self.view_projection.weight


class SoftDot(nn.Module):
    """Attention over words: a linear query from the hidden state, a dot product with each word.

    Shapes: B walkers, L words (padded), D hidden units.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.query = Linear(hidden, hidden, bias=False)

    def forward(
        self,
        hidden: Tensor,  # (B, D)
        text: TextBatch,  # B instructions
        position: Tensor | None = None,  # (L, D) positional encoding, added to the words
    ) -> tuple[Tensor, Tensor]:  # attended words (B, D), weights (B, L)
        """Attend."""
        query = self.query(hidden)
        score = text.match(query)
        if position is not None:
            score = score + query @ position.t()
        weights = score.masked_fill(text.padding, -torch.inf).softmax(dim=1)
        attended = text.mix(weights)
        return attended if position is None else attended + weights @ position, weights


class WordAttention(nn.Module):
    """Soft dot attention with a tanh output layer: tanh(W [attended words; hidden]). Shapes as in SoftDot."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.soft_dot = SoftDot(hidden)
        self.out = Linear(2 * hidden, hidden, bias=False)

    def forward(self, hidden: Tensor, text: TextBatch) -> tuple[Tensor, Tensor]:  # (B, D), weights (B, L)
        """Attend."""
        attended, weights = self.soft_dot(hidden, text)
        return torch.tanh(self.out(attended, hidden)), weights
