"""Observations: the views and candidate actions at the poses of walkers, and attention over them."""

from __future__ import annotations

import torch
from torch import Tensor

from babywalk.navigation.observation import ORIENTATION, Observer
from babywalk.navigation.world import Poses


class Observation:
    """The panorama and the candidate actions at the poses of walkers.

    Shapes: B walkers, K actions (STOP first), S = 36 views, D features of a view, F = D + 128 of a view with
    its orientation, A of a candidate.
    """

    def __init__(self, observer: Observer, poses: Poses, channels: Tensor | None = None) -> None:
        self.observer = observer
        self.poses = poses
        self.channels = channels  # (B, D) factors of the view features: feature dropout; None for no dropout

    def __len__(self) -> int:
        return len(self.poses.viewpoint)

    @property
    def possible(self) -> Tensor:
        """(B, K) bool, True where the action exists."""
        possible: Tensor = self.observer.world.possible[self.poses.viewpoint]
        return possible

    def views(self) -> Tensor:
        """(B, S, F) the views around each walker."""
        return self._with_dropout(self.observer.views(self.poses))

    def candidates(self) -> Tensor:
        """(B, K, A) the candidate actions; zero for STOP and where there is none."""
        return self._with_dropout(self.observer.candidates(self.poses))

    def chosen(self, actions: Tensor) -> Tensor:
        """(B, A) the candidates of chosen actions (B,); zero for STOP."""
        return self._with_dropout(self.observer.chosen(self.poses, actions))

    def attend(self, query: Tensor) -> tuple[Tensor, Tensor]:
        """Attention over the views with a query (B, F): the attended view (B, F), the weights (B, S)."""
        views = self.views()
        weights = torch.bmm(views, query[..., None])[..., 0].softmax(dim=1)
        return torch.bmm(weights[:, None], views)[:, 0], weights

    def match_views(self, features: Tensor) -> Tensor:
        """(B, S) the dot product of each view's features with a vector (B, D)."""
        return torch.bmm(self.views()[..., : self.feature_size], features[..., None])[..., 0]

    def match_candidates(self, features: Tensor) -> Tensor:
        """(B, K) the dot product of each candidate's features with a vector (B, D)."""
        return torch.bmm(self.candidates()[..., : self.feature_size], features[..., None])[..., 0]

    @property
    def feature_size(self) -> int:
        """D."""
        return self.observer.view_width - ORIENTATION

    def _with_dropout(self, rows: Tensor) -> Tensor:
        """Rows (B, ..., >= D) whose first D features are multiplied by the channels' factors."""
        if self.channels is None:
            return rows
        factors = self.channels if rows.ndim == 2 else self.channels[:, None]
        return torch.cat([rows[..., : self.feature_size] * factors, rows[..., self.feature_size :]], dim=-1)
