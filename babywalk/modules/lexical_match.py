"""Likeness: how much the words that are being read speak of what each action shows.

Object features have names, and names have word vectors. So whether "couch" is meant by what a view shows as
"sofa" need not be learned from walks: the vectors tell, in houses that were never seen too.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from babywalk.assets.tokens import tokenise
from babywalk.modules.kernels.deferred_gradients import Linear
from babywalk.modules.kernels.observation import Observation
from babywalk.modules.kernels.text_batch import TextBatch

# What a column's name says about where a thing is seen or how it was classed, not what it is.
_KINDS = ("far", "group", "sees", "room")


class LexicalMatch(nn.Module):
    """Adds to each action's score how alike the attended words and the seen objects are.

    The walker's state says what each kind of column (near, far, by group) is worth. STOP shows what lies all
    around: the mean and the highest likeness of the views.
    Shapes: B walkers, L words, K actions, C columns, E numbers of a code, P kinds, D hidden units.
    """

    kinds: Tensor
    columns: Tensor

    def __init__(self, columns: tuple[str, ...], words: int, code: int, hidden: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, code).requires_grad_(False)  # codes, as those of the columns
        self.register_buffer("columns", torch.zeros(len(columns), code))
        kinds = torch.from_numpy(kinds_of(columns).T.copy()).float()
        self.register_buffer("kinds", kinds, persistent=False)  # (P, C)
        self.worth = Linear(hidden, 2 * len(kinds) + 2)
        nn.init.zeros_(self.worth.weight)
        nn.init.ones_(self.worth.bias)

    def learn(self, vectors: NDArray[np.float32], numbers: Mapping[str, int], names: tuple[str, ...]) -> None:
        """Take the codes from word vectors (V, W); `numbers` are the words' rows, `names` the columns'."""
        words, columns = codes_for(vectors, numbers, names, self.columns.shape[1])
        self.words.weight.data.copy_(torch.from_numpy(words))
        self.columns.copy_(torch.from_numpy(columns))

    def forward(
        self,
        state: Tensor,  # (B, D)
        word_weights: Tensor,  # (B, L)
        readers: TextBatch,
        scene: Observation,
    ) -> Tensor:  # (B, K)
        """What to add to the scores."""
        meant = readers.gathered(word_weights, self.words) @ self.columns.T  # (B, C)
        going, stopping, on_mean, on_most = self.worth(state).split_with_sizes(
            [len(self.kinds), len(self.kinds), 1, 1], dim=1
        )
        around = scene.around(meant * (stopping @ self.kinds))
        stop = on_mean * around.mean(dim=1, keepdim=True) + on_most * around.amax(dim=1, keepdim=True)
        scores = scene.compare_features(meant * (going @ self.kinds))
        return torch.cat([stop, scores[:, 1:]], dim=1)


def kinds_of(columns: tuple[str, ...]) -> NDArray[np.bool_]:
    """(C, P) which kind each column ("source name") is of: neighbours whose names begin alike."""
    kind = [number for number, (_, group) in enumerate(groupby(columns, key=_kind)) for _ in group]
    same: NDArray[np.bool_] = np.array(kind)[:, None] == np.arange(max(kind) + 1)
    return same


def codes_for(
    vectors: NDArray[np.float32],  # (V, W) of the words of the vocabulary
    numbers: Mapping[str, int],  # word to row
    columns: tuple[str, ...],
    width: int,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:  # (V, E), (C, E)
    """Codes of words and of columns whose products are the likeness of their meanings.

    What all words have in common is taken off, and of the rest the E directions are kept in which the columns
    differ most: words that speak of no thing ("the", "walk") keep little there.
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
