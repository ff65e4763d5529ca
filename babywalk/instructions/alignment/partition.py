"""The sum over all segmentations of a path: how well a text and a path go together, wherever pieces lie."""

from __future__ import annotations

import torch
from torch import Tensor


def log_partition(
    end: Tensor,  # (A, B, M, T)
    span: Tensor,  # (A, M, T)
    edge: Tensor,  # (A, B, M, T - 1)
    begin: Tensor,  # (A, B, M, T)
    steps: Tensor,  # (A,)
    states: Tensor,  # (B,)
) -> Tensor:  # (A, B)
    """The logarithm of the sum of exp(score) over the segmentations of each path by the steps of each text.

    The score is that of `segmentation`. Shapes: A texts, B paths, M steps, T states.
    """
    width = end.shape[-1]
    state = torch.arange(width)
    edges = state - state[:, None]  # (T, T) from where a step begins to where it ends
    apart = span[:, :, edges.clamp(min=0)].masked_fill(edges < 0, -torch.inf)  # (A, M, T, T)
    gained = torch.nn.functional.pad(edge.cumsum(dim=-1), (1, 0))
    reached = torch.full((*end.shape[:2], width), -torch.inf)
    reached[..., 0] = 0.0
    after = []
    for m in range(end.shape[2]):
        leaving = reached + begin[:, :, m] - gained[:, :, m]
        ways = leaving[..., :, None] + apart[:, None, m]
        reached = ways.logsumexp(dim=-2) + gained[:, :, m] + end[:, :, m]
        after.append(reached)
    text, path = torch.arange(len(steps))[:, None], torch.arange(len(states))
    return torch.stack(after)[steps[:, None] - 1, text, path, states - 1]
