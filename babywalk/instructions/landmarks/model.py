"""A trained landmark classifier: its vocabulary, what it looks at, and its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from babywalk.assets.manifest import component
from babywalk.buildings.features import ViewFeatures
from babywalk.common.config import check_at_least_one, check_fraction_below_one
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import read_json, write_json
from babywalk.instructions.landmarks.classifier import LandmarkClassifier
from babywalk.instructions.landmarks.vocabulary import LandmarkVocabulary
from babywalk.instructions.landmarks.weights import load_weights, save_weights

_BATCH = 512  # viewpoints at a time


@dataclass(frozen=True, slots=True)
class LandmarkConfig:
    """How the classifier is built and trained. The sizes are the paper's; it states nothing of the rest."""

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


@dataclass(frozen=True, slots=True, eq=False)
class LandmarkModel:
    """What a viewpoint shows, as a number per landmark. Shapes: N viewpoints, V landmarks."""

    config: LandmarkConfig
    vocabulary: LandmarkVocabulary
    features: str  # the spec it was trained on
    scale: NDArray[np.float32]  # (D,) what a feature is divided by
    network: LandmarkClassifier

    def logits(self, features: ViewFeatures) -> NDArray[np.float32]:
        """(N, V) for every viewpoint: they depend on it alone, so one table serves every path."""
        if features.spec != self.features:
            raise ConfigError(f"The classifier looks at {self.features!r}, not at {features.spec!r}.")
        table = np.empty((features.viewpoints, len(self.vocabulary)), dtype=np.float32)
        self.network.eval()
        with torch.inference_mode():
            for begin in range(0, features.viewpoints, _BATCH):
                rows = np.arange(begin, min(begin + _BATCH, features.viewpoints))
                views = torch.from_numpy(features.views(rows) / self.scale)
                table[rows] = self.network(views).numpy()
        return table

    def save(self, folder: Path, *, notes: Sequence[str] = ()) -> None:
        """Keep the classifier as a component."""
        facts = {"features": self.features, "landmarks": len(self.vocabulary)}
        with component(folder, "landmark classifier", notes=notes, details=facts) as draft:
            save_weights(draft.folder / "weights.safetensors", self.network)
            np.save(draft.folder / "scale.npy", self.scale)
            about = {"config": asdict(self.config), "features": self.features}
            write_json(draft.folder / "model.json", about | {"landmarks": self.vocabulary.names})


def load_landmarks(folder: Path) -> LandmarkModel:
    """Read what `LandmarkModel.save` kept."""
    stored = read_json(folder / "model.json")
    try:
        config = LandmarkConfig(**stored["config"])
        vocabulary = LandmarkVocabulary(tuple(stored["landmarks"]))
        scale = np.load(folder / "scale.npy", allow_pickle=False)
        spec = str(stored["features"])
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{folder}: cannot be read ({error}). Train the landmarks again.") from None
    network = LandmarkClassifier(len(scale), len(vocabulary), channels=config.channels, hidden=config.hidden)
    load_weights(folder / "weights.safetensors", network)
    return LandmarkModel(config, vocabulary, spec, scale, network.eval())
