"""The progress monitor of self-monitoring agents (Ma et al. 2019): how much of the way is done."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from babywalk.modules.layers import Linear

_POSITIONS = 32  # parts of an instruction


class ProgressMonitor(nn.Module):
    """p_t = tanh(W [words read; sigmoid(W_g [h_(t-1); v_t]) * tanh(c_t)]), 1 at the goal.

    The words read are the attention weights of the words. The paper pads them to a fixed number; here they
    are summed over 32 equal parts of the instruction, so that instructions of any length are read alike.
    Shapes: B walkers, D hidden units, E attended candidate, L words.
    """

    def __init__(self, hidden: int, candidate: int) -> None:
        super().__init__()
        self.gate = Linear(hidden + candidate, hidden)
        self.estimate = Linear(_POSITIONS + hidden, 1)

    def forward(
        self,
        hidden: Tensor,  # (B, D) h_(t-1), before the step
        attended: Tensor,  # (B, E) v_t, the attended candidate
        cell: Tensor,  # (B, D) c_t, after the step
        word_weights: Tensor,  # (B, L), 0 for padding
        lengths: Tensor,  # (B,) words
    ) -> Tensor:  # (B,)
        """Estimate the progress of walkers."""
        position = torch.arange(word_weights.shape[1], device=lengths.device)
        part = (position * _POSITIONS // lengths[:, None]).clamp(max=_POSITIONS - 1)  # (B, L)
        read = word_weights.new_zeros(len(lengths), _POSITIONS).scatter_add(1, part, word_weights)
        gated = torch.sigmoid(self.gate(hidden, attended)) * torch.tanh(cell)
        return torch.tanh(self.estimate(read, gated))[:, 0]
