"""Texts and paths as the network takes them, in training and in use."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from babywalk.common.ragged import Ragged
from babywalk.instructions.alignment.alignment_examples import AlignmentExamples
from babywalk.instructions.alignment.network import Matcher, Vectors
from babywalk.instructions.alignment.walking import Walking

_SLOPE = 1.0  # what each edge beyond the longest learned span costs


def word_tensors(words: Ragged) -> tuple[Tensor, Tensor, Tensor]:
    """Pieces of text as `Matcher.pieces` takes them."""
    return (
        torch.from_numpy(words.values).long(),
        torch.from_numpy(words.start[:-1]),
        torch.from_numpy(words.lengths),
    )


def places_in_text(told: AlignmentExamples) -> NDArray[np.float32]:
    """(Q, 3) whether a piece is the first of its episode, the last, and the logarithm of its words."""
    place = np.zeros((len(told.pieces.values), 3), dtype=np.float32)
    filled = told.pieces.lengths > 0
    place[told.pieces.start[:-1][filled], 0] = 1.0
    place[told.pieces.start[1:][filled] - 1, 1] = 1.0
    place[:, 2] = np.log(np.maximum(1, told.word_counts.values)) - 1.8  # six words are usual
    return place


def state_vectors(
    network: Matcher,
    walking: Walking,
    states: NDArray[np.int64],
    seen: Tensor,  # (P, 3 D)
    pair: Tensor,  # (S,) the pair that arrives at each of the states; the next one's pair leaves it
) -> Vectors:
    """The vectors of flat states that follow each other; what leaves the last state of a path is void."""
    arriving = seen[pair]
    return network.states(
        torch.from_numpy(walking.edge[states]),
        torch.from_numpy(walking.state[states]),
        torch.cat([arriving[1:], arriving[-1:]]),
        arriving,
    )


def stretched(spans: Tensor, width: int) -> Tensor:  # (..., K) -> (..., width)
    """Scores of covering 0, 1, ... edges; beyond what was learned they fall steadily."""
    edges, longest = torch.arange(width), spans.shape[-1] - 1
    return spans[..., edges.clamp(max=longest)] - _SLOPE * (edges - longest).clamp(min=0)
