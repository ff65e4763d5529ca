from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from babywalk.buildings.features import Source, ViewFeatures
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.ragged import Ragged
from babywalk.episodes.dataset import Dataset
from babywalk.instructions.landmarks.model import LandmarkConfig, LandmarkModel, load_landmarks
from babywalk.instructions.landmarks.precision import average_precision
from babywalk.instructions.landmarks.training import fit, over_paths, train_landmarks
from babywalk.instructions.landmarks.vocabulary import LandmarkVocabulary
from babywalk.instructions.segmented import SegmentedTexts

NAMES = LandmarkVocabulary(("bed", "lamp", "stair"))
CONFIG = LandmarkConfig(channels=16, hidden=32, epochs=12, batch=16, learning_rate=5e-3, dropout=0.0)


@pytest.fixture(scope="module")
def planted() -> tuple[ViewFeatures, Ragged, NDArray[np.float32]]:
    """Viewpoints with noise and at most one landmark each, in one view; paths that know what they pass."""
    draw = np.random.default_rng(0)
    views = draw.normal(0, 0.3, (300, 36, 6)).astype(np.float32)
    shows = draw.integers(0, 12, 300)  # a landmark where below 3
    views[np.arange(300), draw.integers(0, 36, 300), np.minimum(shows, 5)] += np.where(shows < 3, 6.0, 0.0)
    source = Source("toy", views, views.mean(axis=1), {}, (), ())
    features = ViewFeatures("toy", 300, ((source, slice(0, 6)),), False)
    paths = Ragged.of([np.sort(draw.choice(300, 5, replace=False)).tolist() for _ in range(400)])
    named = np.zeros((400, 3), dtype=np.float32)
    for landmark in range(3):
        named[:, landmark] = (shows[paths.values].reshape(400, 5) == landmark).any(axis=1)
    return features, paths, named


@pytest.fixture(scope="module")
def model(planted: tuple[ViewFeatures, Ragged, NDArray[np.float32]]) -> LandmarkModel:
    return fit(*planted, NAMES, CONFIG)


def test_the_largest_logit_along_a_path() -> None:
    logits = torch.tensor([[1.0, 5.0], [3.0, 2.0], [-9.0, -8.0]])
    assert over_paths(logits, Ragged.of([[0, 1], [2]])).tolist() == [[3.0, 5.0], [-9.0, -8.0]]


def test_a_planted_landmark_is_found(
    model: LandmarkModel, planted: tuple[ViewFeatures, Ragged, NDArray[np.float32]]
) -> None:
    features, paths, named = planted
    scores = over_paths(torch.from_numpy(model.logits(features)), paths).numpy()
    assert average_precision(scores, named > 0).min() > 0.95


def test_saved_and_loaded(
    model: LandmarkModel, planted: tuple[ViewFeatures, Ragged, NDArray[np.float32]], tmp_path: Path
) -> None:
    model.save(tmp_path / "model", notes=["toy"])
    loaded = load_landmarks(tmp_path / "model")
    assert (loaded.config, loaded.vocabulary, loaded.features) == (CONFIG, NAMES, "toy")
    np.testing.assert_array_equal(loaded.logits(planted[0]), model.logits(planted[0]))


def test_equal_seeds_give_equal_weights(planted: tuple[ViewFeatures, Ragged, NDArray[np.float32]]) -> None:
    shortlist = replace(CONFIG, epochs=1)
    torch.manual_seed(5)
    first = fit(*planted, NAMES, shortlist)
    torch.manual_seed(6)
    second, other = fit(*planted, NAMES, shortlist), fit(*planted, NAMES, replace(shortlist, seed=1))
    np.testing.assert_array_equal(first.logits(planted[0]), second.logits(planted[0]))
    assert not np.array_equal(first.logits(planted[0]), other.logits(planted[0]))


def test_weights_of_another_network_are_refused(model: LandmarkModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    about = tmp_path / "model" / "model.json"
    about.write_text(about.read_text().replace('"hidden": 32', '"hidden": 33'))
    with pytest.raises(DataError, match=r"weights.safetensors: 'hidden.bias' does not fit the network"):
        load_landmarks(tmp_path / "model")


def test_broken_weights_are_refused(model: LandmarkModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    (tmp_path / "model" / "weights.safetensors").write_bytes(b"no weights")
    with pytest.raises(DataError, match=r"weights.safetensors: cannot be read as weights"):
        load_landmarks(tmp_path / "model")


def test_a_broken_description_is_refused(model: LandmarkModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    (tmp_path / "model" / "model.json").write_text('{"config": {"colour": 1}}')
    with pytest.raises(DataError, match=r"model: cannot be read .*Train the landmarks again"):
        load_landmarks(tmp_path / "model")


def test_other_features_are_refused(
    model: LandmarkModel, planted: tuple[ViewFeatures, Ragged, NDArray[np.float32]]
) -> None:
    with pytest.raises(ConfigError, match="The classifier looks at 'toy', not at 'resnet'"):
        model.logits(replace(planted[0], spec="resnet"))


def test_settings_that_cannot_work() -> None:
    with pytest.raises(ConfigError, match="epochs = 0 cannot work"):
        LandmarkConfig(epochs=0)
    with pytest.raises(ConfigError, match=r"dropout = 1\.0 cannot work"):
        LandmarkConfig(dropout=1.0)


def test_there_must_be_something_to_see(dollhouse: Path) -> None:
    found = SegmentedTexts.of([], frozenset())
    with pytest.raises(ConfigError, match="Landmarks cannot be learned from features 'none'"):
        train_landmarks(Dataset(dollhouse), found, "none")
