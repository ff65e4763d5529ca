"""`ActionScore` without embedding every candidate.

score . (wanted * (W a + b)) = (W^T (wanted * score)) . a + constant: one product with W for each walker
instead of one for each of its candidates.
"""

from __future__ import annotations

import torch
from torch import Tensor

from babywalk.modules.decoder import ActionScore
from babywalk.modules.kernels.deferred_gradients import FastLinear
from babywalk.modules.kernels.observation import KernelObservation
from babywalk.modules.observation import Observation


class FastActionScore(ActionScore):
    """Shapes as in `ActionScore`."""

    embed: FastLinear

    def scores(self, wanted: Tensor, candidates: Tensor | Observation) -> Tensor:
        """(B, K) the score of every candidate."""
        weighted = wanted * self.score.weight
        query = self.embed.transposed(weighted)  # (B, A)
        offset = (weighted @ self.embed.bias)[:, None] + self.score.bias
        if isinstance(candidates, KernelObservation):
            return candidates.score_candidates(query) + offset
        if isinstance(candidates, Observation):
            candidates = candidates.candidates()
        return torch.bmm(candidates, query[..., None])[..., 0] + offset
