"""Training the aligner by weak supervision: a text matches its own path better than other paths.

The alignment itself is never given. The score of a text and a path is the log-sum-exp over all segmentations
(`log_partition`); the loss is the cross-entropy of a text's own path among those of the batch, some of which
are of the same house.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from babywalk.buildings.features import ViewFeatures, open_features
from babywalk.buildings.houses import Houses
from babywalk.common.fitting import DEVICE, fit, seeded_torch, shuffled_groups
from babywalk.common.ragged import Ragged, ranges, starts
from babywalk.common.seeding import generator
from babywalk.episodes.dataset import Dataset
from babywalk.instructions.alignment.aligner import (
    Aligner,
    AlignerConfig,
    extrapolated,
    new_matcher,
    positions_in_text,
    state_vectors,
    word_tensors,
)
from babywalk.instructions.alignment.examples import AlignmentExamples, examples_from_walks
from babywalk.instructions.alignment.features import VIEWS_PER_MOVE, Lexicon, PathFeatures, unique_moves
from babywalk.instructions.landmarks.classifier import column_scale


def train_aligner(dataset: Dataset, spec: str, config: AlignerConfig | None = None) -> Aligner:
    """Train on the texts and paths of the train split."""
    features = open_features(dataset.folder, spec, dataset.houses)
    examples = examples_from_walks(dataset.walks("train"))
    return fit_aligner(examples, dataset.houses, features, config or AlignerConfig())


def fit_aligner(
    examples: AlignmentExamples, houses: Houses, features: ViewFeatures, config: AlignerConfig
) -> Aligner:
    """Train an aligner on texts, each of which describes a path."""
    lexicon = Lexicon.of(examples.texts, at_least=config.at_least)
    scale = np.tile(column_scale(features, np.unique(examples.paths.values)), VIEWS_PER_MOVE)
    with seeded_torch(config.seed, "aligner"):
        network = new_matcher(config, lexicon, len(scale))
        aligner = Aligner(config, lexicon, features.spec, scale, network)
        data = _TrainingData(aligner, examples, houses, features)
        fit(
            network,
            lambda epoch: _batches(examples, houses, config, epoch),
            lambda batch: functional.cross_entropy(
                data.scores(batch), torch.arange(len(batch), device=DEVICE)
            ),
            label="Training the aligner",
            epochs=config.epochs,
            learning_rate=config.learning_rate,
            weight_decay=config.weight_decay,
            max_norm=5.0,
        )
    return aligner


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
    state = torch.arange(width, device=end.device)
    edges = state - state[:, None]  # (T, T) from where a step begins to where it ends
    by_ends = span[:, :, edges.clamp(min=0)].masked_fill(edges < 0, -torch.inf)  # (A, M, T, T)
    covered = functional.pad(edge.cumsum(dim=-1), (1, 0))
    total = end.new_full((*end.shape[:2], width), -torch.inf)
    total[..., 0] = 0.0
    after = []
    for m in range(end.shape[2]):
        leaving = total + begin[:, :, m] - covered[:, :, m]
        arriving = leaving[..., :, None] + by_ends[:, None, m]
        total = arriving.logsumexp(dim=-2) + covered[:, :, m] + end[:, :, m]
        after.append(total)
    text = torch.arange(len(steps), device=end.device)[:, None]
    path = torch.arange(len(states), device=end.device)
    return torch.stack(after)[steps[:, None] - 1, text, path, states - 1]


class _TrainingData:
    """The train split as arrays. Shapes: B episodes of a batch."""

    def __init__(
        self, aligner: Aligner, examples: AlignmentExamples, houses: Houses, features: ViewFeatures
    ) -> None:
        self.aligner, self.examples, self.houses, self.features = aligner, examples, houses, features
        self.words = aligner.lexicon.encode(examples.texts)
        self.positions = positions_in_text(examples)
        self.paths = PathFeatures.of(houses, examples.paths, examples.headings)
        self.moves, self.move = unique_moves(self.paths.previous, self.paths.viewpoint)

    def scores(self, batch: NDArray[np.int64]) -> Tensor:  # (B,) episodes -> (B, B)
        """How well each text of a batch matches the path of each."""
        examples, network = self.examples, self.aligner.network
        own = examples.path_of[batch]
        pieces = examples.pieces.take(batch)
        flat = torch.as_tensor(ranges(examples.pieces.start[batch], pieces.lengths), device=DEVICE)
        text, spans = network.pieces(*word_tensors(self.words.take(pieces.values)))
        spans = network.span_scores(spans, self.positions[flat])
        lengths = examples.paths.lengths[own]
        vectors = self._state_vectors(ranges(examples.paths.start[own], lengths))
        piece, state = _padded(pieces.lengths), _padded(lengths)
        edge, end, begin = (
            torch.einsum("amd,btd->abmt", of_piece[piece], of_state[state])
            for of_piece, of_state in zip(text, vectors, strict=True)
        )
        scores = log_partition(
            end,
            extrapolated(spans, state.shape[1])[piece],
            edge[..., :-1],
            begin,
            torch.as_tensor(pieces.lengths, device=DEVICE),
            torch.as_tensor(lengths, device=DEVICE),
        )
        # Other texts of the same walk describe the same path, which is no negative example for them.
        same = (own[:, None] == own) & ~np.eye(len(own), dtype=np.bool_)
        return scores.masked_fill(torch.as_tensor(same, device=DEVICE), -torch.inf)

    def _state_vectors(self, states: NDArray[np.int64]) -> tuple[Tensor, Tensor, Tensor]:
        used, move = np.unique(self.move[states], return_inverse=True)
        views = self.aligner.scaled_views(self.houses, self.features, self.moves[used])
        network = self.aligner.network
        return state_vectors(network, self.paths, states, network.moves(views), move)


def _padded(lengths: NDArray[np.int64]) -> Tensor:
    """(rows, longest) the numbers 0, 1, ... of all entries, by row; 0 where there is none."""
    rows = Ragged(np.arange(lengths.sum(), dtype=np.int32), starts(lengths))
    return torch.as_tensor(rows.padded(fill=0), device=DEVICE).long()


def _batches(
    examples: AlignmentExamples, houses: Houses, config: AlignerConfig, epoch: int
) -> list[NDArray[np.int64]]:
    """Batches of episodes from about two houses, so that some paths of a batch are of the same house."""
    draw = generator(config.seed, "aligner batches", epoch)
    house = houses.house_of[examples.paths.firsts[examples.path_of]]
    order = np.lexsort((draw.random(len(examples)), house))
    shuffled = np.concatenate(shuffled_groups(order, round(2 * len(order) / config.batch), draw))
    return np.array_split(shuffled, max(1, round(len(order) / config.batch)))
