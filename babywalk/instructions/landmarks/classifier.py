"""The landmark classifier of the paper's appendix A.2, and its training by weak supervision.

A small convolutional network scores the landmarks of a viewpoint. A landmark that an instruction names is
visible somewhere on its path: the logits of a path are the maximum over its viewpoints, landmark by
landmark, and the loss is the binary cross-entropy against the landmarks that the path's instructions name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from babywalk.assets.data_directory import StoredComponent, component
from babywalk.assets.records import Record
from babywalk.buildings.features import ViewFeatures, open_features
from babywalk.buildings.panorama import COLUMNS, ROWS
from babywalk.common.array_files import check_range, read_array
from babywalk.common.config import check_at_least_one, check_fraction_below_one, from_table
from babywalk.common.errors import ConfigError
from babywalk.common.files import read_json, write_json
from babywalk.common.fitting import DEVICE, fit, seeded_torch, shuffled_groups
from babywalk.common.ragged import Ragged
from babywalk.common.seeding import generator
from babywalk.common.weights import check_sizes, load_state, read_tensors, write_tensors
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Index
from babywalk.episodes.walks import Walks
from babywalk.instructions.landmarks.vocabulary import LandmarkVocabulary
from babywalk.instructions.segmented import SegmentedTexts

_BATCH = 512  # viewpoints per forward pass of `LandmarkModel.logits`


@dataclass(frozen=True, slots=True)
class LandmarkConfig:
    """How the classifier is built and trained. The sizes are the paper's, which does not state the rest."""

    at_least: int = 20  # texts of the train split that name a landmark
    channels: int = 128
    hidden: int = 512
    epochs: int = 10
    batch: int = 64  # paths
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    dropout: float = 0.2  # of whole columns of the features
    seed: int = 0

    def __post_init__(self) -> None:
        check_at_least_one(self, "at_least", "channels", "hidden", "epochs", "batch")
        check_fraction_below_one(self, "dropout")


class LandmarkClassifier(nn.Module):
    """Two convolutions over the panorama, their mean, and two linear layers.

    Shapes: B viewpoints, D features per view, V landmarks.
    """

    def __init__(self, width: int, landmarks: int, *, channels: int, hidden: int) -> None:
        super().__init__()
        self.near = nn.Conv2d(width, channels, kernel_size=3)
        self.wide = nn.Conv2d(channels, channels, kernel_size=3)
        self.hidden = nn.Linear(channels, hidden)
        self.logits = nn.Linear(hidden, landmarks)

    def forward(self, views: Tensor) -> Tensor:  # (B, 36, D) -> (B, V)
        """The logits of viewpoints from their views."""
        grid = views.transpose(1, 2).reshape(len(views), -1, ROWS, COLUMNS)  # (B, D, 3, 12)
        for layer in (self.near, self.wide):
            grid = functional.relu(layer(_pad_panorama(grid)))
        logits: Tensor = self.logits(functional.relu(self.hidden(grid.mean(dim=(2, 3)))))
        return logits


def _pad_panorama(grid: Tensor) -> Tensor:
    """One more column on both sides, circular as headings are, and rows of zeros above and below."""
    circular = functional.pad(grid, (1, 1, 0, 0), mode="circular")
    return functional.pad(circular, (0, 0, 1, 1))


@dataclass(frozen=True, slots=True, eq=False)
class LandmarkModel:
    """A trained classifier with its vocabulary. Shapes: N viewpoints, V landmarks, D features per view."""

    config: LandmarkConfig
    vocabulary: LandmarkVocabulary
    features: str  # the spec it was trained on
    scale: NDArray[np.float32]  # (D,) divides the features
    network: LandmarkClassifier

    def logits(self, features: ViewFeatures) -> NDArray[np.float32]:
        """(N, V) of every viewpoint."""
        if features.spec != self.features:
            raise ConfigError(
                f"The classifier was trained on the features {self.features!r}, not on {features.spec!r}."
            )
        table = np.empty((features.viewpoints, len(self.vocabulary)), dtype=np.float32)
        self.network.eval()
        with torch.inference_mode():
            for begin in range(0, features.viewpoints, _BATCH):
                rows = np.arange(begin, min(begin + _BATCH, features.viewpoints))
                views = torch.as_tensor(features.views(rows) / self.scale, device=DEVICE)
                table[rows] = self.network(views).numpy()
        return table

    def save(self, folder: Path, *, notes: Sequence[str] = ()) -> None:
        """Write the classifier as a component of a data directory."""
        facts = {"features": self.features, "landmarks": len(self.vocabulary)}
        with component(folder, "landmark classifier", notes=notes, details=facts) as draft:
            write_tensors(draft.folder / "weights.safetensors", self.network.state_dict())
            np.save(draft.folder / "scale.npy", self.scale)
            about = {"config": asdict(self.config), "features": self.features}
            write_json(draft.folder / "model.json", about | {"landmarks": self.vocabulary.names})


def load_landmarks(folder: Path) -> LandmarkModel:
    """Read what `LandmarkModel.save` wrote."""
    stored = StoredComponent(folder, f"Delete {folder}, and 'babywalk data align' trains it again.")
    with stored.reading("model.json") as file:
        record = Record.of(file, "the file", read_json(file))
        config = from_table(LandmarkConfig, record.table("config"), where=f"{file}, config")
        vocabulary, spec = LandmarkVocabulary(tuple(record.strings("landmarks"))), record.string("features")
    with stored.reading("scale.npy") as file:
        scale = read_array(file, "f", (None,))
        check_range(file, "scales", scale, 0, np.inf)
    with stored.reading("weights.safetensors") as file:
        tensors, _ = read_tensors(file)
        check_sizes(file, tensors, {"channels": config.channels, "hidden": config.hidden})
        network = _new_network(config, vocabulary, len(scale))
        load_state(network, tensors, file)
    return LandmarkModel(config, vocabulary, spec, scale, network.eval())


def train_landmarks(
    dataset: Dataset, segmented: SegmentedTexts, spec: str, config: LandmarkConfig | None = None
) -> LandmarkModel:
    """Train on the train split, whose sentences are `segmented`."""
    features = open_features(dataset.folder, spec, dataset.houses)
    if not features.width:
        raise ConfigError(f"Landmarks cannot be learned from the features {spec!r}, which have no columns.")
    chosen, walks = config or LandmarkConfig(), dataset.walks("train")
    vocabulary = LandmarkVocabulary.of(segmented, at_least=chosen.at_least)
    target = mean_per_walk(vocabulary.of_texts(segmented), walks)
    return fit_landmarks(features, walks.paths, target, vocabulary, chosen)


def mean_per_walk(named: NDArray[np.bool_], walks: Walks) -> NDArray[np.float32]:
    """(W, V) the fraction of a walk's texts that name a landmark, from whether each text does (T, V).

    The cross-entropy against this fraction is the mean of the cross-entropies against each text.
    """
    total: NDArray[np.float32] = np.add.reduceat(named.astype(np.float32), walks.first_text[:-1], axis=0)
    total /= np.diff(walks.first_text)[:, None]
    return total


def fit_landmarks(
    features: ViewFeatures,
    paths: Ragged,
    target: NDArray[np.float32],  # (paths, V) the fraction of a path's texts that name a landmark
    vocabulary: LandmarkVocabulary,
    config: LandmarkConfig,
) -> LandmarkModel:
    """Train a classifier on paths and the landmarks named along each."""
    scale = column_scale(features, np.unique(paths.values))
    with seeded_torch(config.seed, "landmarks"):
        network = _new_network(config, vocabulary, len(scale))
        # The initial bias gives each landmark its frequency: most are on few paths.
        frequency = torch.as_tensor(target.mean(axis=0), device=DEVICE).clamp(1e-4, 1 - 1e-4)
        network.logits.bias.data.copy_(torch.logit(frequency))

        def loss(batch: NDArray[np.int64]) -> Tensor:
            walked = paths.take(batch)
            viewpoints, row = np.unique(walked.values, return_inverse=True)
            views = torch.as_tensor(features.views(viewpoints) / scale, device=DEVICE)
            keep = torch.rand(len(viewpoints), 1, views.shape[2], device=DEVICE) >= config.dropout
            logits = network(views * keep / (1 - config.dropout))
            logits = max_over_paths(logits, Ragged(row.astype(np.int32), walked.start))
            wanted = torch.as_tensor(target[batch], device=DEVICE)
            return functional.binary_cross_entropy_with_logits(logits, wanted)

        fit(
            network,
            lambda epoch: _batches(paths, config, epoch),
            loss,
            label="Training the landmark classifier",
            epochs=config.epochs,
            learning_rate=config.learning_rate,
            weight_decay=config.weight_decay,
            warm_up=0.3,
        )
    return LandmarkModel(config, vocabulary, features.spec, scale, network)


def max_over_paths(logits: Tensor, paths: Ragged) -> Tensor:  # (N, V) -> (paths, V)
    """The largest logit along each path."""
    padded = paths.padded()
    rows = np.where(padded >= 0, padded, padded[:, :1])  # repeating the first viewpoint leaves the maximum
    return logits[torch.as_tensor(rows.astype(np.int64), device=logits.device)].amax(dim=1)


def column_scale(features: ViewFeatures, viewpoints: Index) -> NDArray[np.float32]:
    """(D,) the root mean square of each column over panoramas, so that rare objects count too."""
    table = features.panorama(viewpoints)
    size = np.sqrt(np.square(table, dtype=np.float64).mean(axis=0))
    return np.where(size > 0, size, 1.0).astype(np.float32)


def _new_network(config: LandmarkConfig, vocabulary: LandmarkVocabulary, width: int) -> LandmarkClassifier:
    with torch.device(DEVICE):
        return LandmarkClassifier(width, len(vocabulary), channels=config.channels, hidden=config.hidden)


def _batches(paths: Ragged, config: LandmarkConfig, epoch: int) -> list[NDArray[np.int64]]:
    """Batches of paths of one house, which share viewpoints: each is computed once per batch."""
    draw = generator(config.seed, "landmark batches", epoch)
    order = np.lexsort((draw.random(len(paths)), paths.firsts))
    return shuffled_groups(order, round(len(order) / config.batch), draw)
