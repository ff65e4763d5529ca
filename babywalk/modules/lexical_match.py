"""Lexical match: how much the attended words name what each action shows.

Object features have names, and names have word vectors. So that "couch" may mean what a view shows as "sofa"
need not be learned from trajectories: the similarity of the vectors holds in unseen houses too.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from babywalk.assets.tokens import tokenise
from babywalk.modules.layers import Linear
from babywalk.modules.observation import Observation
from babywalk.modules.text_encoder import TextBatch

# Words in column names that say how an object is seen or grouped, not what it is.
_KINDS = ("far", "group", "sees", "room")


class LexicalMatch(nn.Module):
    """Adds to each action's score the similarity of the attended words and the objects in its view.

    A linear layer on the hidden state weighs each kind of column (near, far, by group). STOP is scored by the
    whole panorama: the mean and the maximum of the views' similarities.
    Shapes: B walkers, L words, K actions, C columns, E code, P kinds, D hidden units.
    """

    kinds: Tensor
    columns: Tensor

    def __init__(self, columns: tuple[str, ...], words: int, code: int, hidden: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, code).requires_grad_(False)
        self.register_buffer("columns", torch.zeros(len(columns), code, device=self.words.weight.device))
        kinds = torch.as_tensor(kinds_of(columns).T.copy(), device=self.words.weight.device).float()
        self.register_buffer("kinds", kinds, persistent=False)  # (P, C)
        self.kind_weights = Linear(hidden, 2 * len(kinds) + 2)
        nn.init.zeros_(self.kind_weights.weight)
        nn.init.ones_(self.kind_weights.bias)

    def set_codes(
        self, vectors: NDArray[np.float32], numbers: Mapping[str, int], names: tuple[str, ...]
    ) -> None:
        """Compute the codes from word vectors (V, W); `numbers` are the words' rows, `names` the columns'."""
        words, columns = codes_for(vectors, numbers, names, self.columns.shape[1])
        self.words.weight.data.copy_(torch.as_tensor(words, device=self.columns.device))
        self.columns.copy_(torch.as_tensor(columns, device=self.columns.device))

    def forward(
        self,
        hidden: Tensor,  # (B, D)
        word_weights: Tensor,  # (B, L)
        text: TextBatch,
        observation: Observation,
    ) -> Tensor:  # (B, K)
        """What is added to the logits."""
        meant = text.mix_embeddings(word_weights, self.words) @ self.columns.T  # (B, C)
        moving, stopping, on_mean, on_maximum = self.kind_weights(hidden).split_with_sizes(
            [len(self.kinds), len(self.kinds), 1, 1], dim=1
        )
        views = observation.match_views(meant * (stopping @ self.kinds))
        stop = on_mean * views.mean(dim=1, keepdim=True) + on_maximum * views.amax(dim=1, keepdim=True)
        scores = observation.match_candidates(meant * (moving @ self.kinds))
        return torch.cat([stop, scores[:, 1:]], dim=1)


def kinds_of(columns: tuple[str, ...]) -> NDArray[np.bool_]:
    """(C, P) the kind of each column ("source name"): runs of columns with the same kind words."""
    kind = [number for number, (_, group) in enumerate(groupby(columns, key=_kind)) for _ in group]
    same: NDArray[np.bool_] = np.array(kind)[:, None] == np.arange(max(kind) + 1)
    return same


def codes_for(
    vectors: NDArray[np.float32],  # (V, W) of the words of the vocabulary
    numbers: Mapping[str, int],  # word to row
    columns: tuple[str, ...],
    width: int,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:  # (V, E), (C, E)
    """Codes of words and of columns whose dot products are the similarity of their meanings.

    The mean word vector is subtracted, and the E directions with the most variance among the columns are
    kept: words that name no object ("the", "walk") have little length there.
    """
    centred = vectors - vectors.mean(axis=0)
    centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-6)
    named = np.zeros((len(columns), vectors.shape[1]), dtype=np.float32)
    for row, column in enumerate(columns):
        known = [numbers[word] for word in _meaning(column) if word in numbers]
        if known:
            named[row] = centred[known].mean(axis=0)
    _, _, directions = np.linalg.svd(named, full_matrices=False)
    basis = np.zeros((vectors.shape[1], width), dtype=np.float32)
    kept = directions[:width].T
    basis[:, : kept.shape[1]] = kept
    return centred @ basis, named @ basis


def _kind(column: str) -> tuple[str, ...]:
    return tuple(word for word in column.split()[1:] if word in _KINDS)


def _meaning(column: str) -> list[str]:
    return [word for word in tokenise(column.replace("_", " "))[1:] if word not in _KINDS]
