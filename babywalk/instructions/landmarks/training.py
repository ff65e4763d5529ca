"""Training the landmark classifier by weak supervision: what an instruction names is somewhere on its path.

The logits of a path are the largest of its viewpoints' logits, landmark by landmark; the loss is the binary
cross-entropy against what an instruction of the path names (appendix A.2).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from babywalk.buildings.features import ViewFeatures, open_features
from babywalk.common.errors import ConfigError
from babywalk.common.progress import progress
from babywalk.common.ragged import Ragged
from babywalk.common.seeding import generator
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Index
from babywalk.episodes.walks import Walks
from babywalk.instructions.landmarks.classifier import LandmarkClassifier
from babywalk.instructions.landmarks.model import LandmarkConfig, LandmarkModel
from babywalk.instructions.landmarks.vocabulary import LandmarkVocabulary
from babywalk.instructions.segmented import SegmentedTexts


def train_landmarks(
    dataset: Dataset, found: SegmentedTexts, spec: str, config: LandmarkConfig | None = None
) -> LandmarkModel:
    """Learn from the train split, whose sentences are `found`."""
    features = open_features(dataset.folder, spec, dataset.houses)
    if not features.width:
        raise ConfigError(f"Landmarks cannot be learned from features {spec!r}: there is nothing to see.")
    chosen, walks = config or LandmarkConfig(), dataset.walks("train")
    vocabulary = LandmarkVocabulary.of(found, at_least=chosen.at_least)
    target = mean_per_walk(vocabulary.of_texts(found), walks)
    return fit(features, walks.paths, target, vocabulary, chosen)


def mean_per_walk(named: NDArray[np.bool_], walks: Walks) -> NDArray[np.float32]:
    """(W, V) the share of a walk's texts that name a landmark.

    The cross-entropy against this share is the mean of the cross-entropies against each text.
    """
    total: NDArray[np.float32] = np.add.reduceat(named.astype(np.float32), walks.first_text[:-1], axis=0)
    total /= np.diff(walks.first_text)[:, None]
    return total


def fit(
    features: ViewFeatures,
    paths: Ragged,
    target: NDArray[np.float32],  # (paths, V)
    vocabulary: LandmarkVocabulary,
    config: LandmarkConfig,
) -> LandmarkModel:
    """Train a classifier on paths and the landmarks that are said to lie on each."""
    seen = np.unique(paths.values)
    scale = column_scale(features, seen)
    seed = int(generator(config.seed, "landmarks").integers(2**31))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = LandmarkClassifier(
            len(scale), len(vocabulary), channels=config.channels, hidden=config.hidden
        )
        # Begin at what the data say without looking: most landmarks are on few paths.
        share = torch.from_numpy(target.mean(axis=0)).clamp(1e-4, 1 - 1e-4)
        network.logits.bias.data.copy_(torch.logit(share))
        optimiser = torch.optim.AdamW(
            network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
        )
        batches = [batch for epoch in range(config.epochs) for batch in _batches(paths, config, epoch)]
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, max_lr=config.learning_rate, total_steps=len(batches) + 1
        )
        network.train()
        for batch in progress(batches, "Learning landmarks", unit="batch"):
            walked = paths.take(batch)
            viewpoints, place = np.unique(walked.values, return_inverse=True)
            views = torch.from_numpy(features.views(viewpoints) / scale)
            keep = torch.rand(len(viewpoints), 1, views.shape[2]) >= config.dropout
            logits = network(views * keep / (1 - config.dropout))
            score = over_paths(logits, Ragged(place.astype(np.int32), walked.start))
            loss = functional.binary_cross_entropy_with_logits(score, torch.from_numpy(target[batch]))
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            schedule.step()
    return LandmarkModel(config, vocabulary, features.spec, scale, network.eval())


def over_paths(logits: Tensor, paths: Ragged) -> Tensor:  # (N, V) -> (paths, V)
    """The largest logit along each path."""
    padded = paths.padded()
    places = np.where(padded >= 0, padded, padded[:, :1])  # repeating the first state leaves the maximum
    return logits[torch.from_numpy(places.astype(np.int64))].amax(dim=1)


def column_scale(features: ViewFeatures, viewpoints: Index) -> NDArray[np.float32]:
    """(D,) the root mean square of each column over panoramas, so that rare objects count too."""
    table = features.ahead(viewpoints)
    size = np.sqrt(np.square(table, dtype=np.float64).mean(axis=0))
    return np.where(size > 0, size, 1.0).astype(np.float32)


def _batches(paths: Ragged, config: LandmarkConfig, epoch: int) -> Iterator[NDArray[np.int64]]:
    """The paths in batches of neighbours: paths of one house share viewpoints, which are looked at once."""
    draw = generator(config.seed, "landmark batches", epoch)
    order = np.lexsort((draw.random(len(paths)), paths.firsts))
    pieces = np.array_split(order, max(1, round(len(order) / config.batch)))
    return (pieces[piece] for piece in draw.permutation(len(pieces)))
