"""The landmark classifier on viewpoints with planted landmarks."""

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
from babywalk.instructions.landmarks.classifier import (
    LandmarkClassifier,
    LandmarkConfig,
    LandmarkModel,
    fit_landmarks,
    load_landmarks,
    max_over_paths,
    train_landmarks,
)
from babywalk.instructions.landmarks.evaluation import average_precision
from babywalk.instructions.landmarks.vocabulary import LandmarkVocabulary
from babywalk.instructions.segmented import SegmentedTexts

NAMES = LandmarkVocabulary(("bed", "lamp", "stair"))
CONFIG = LandmarkConfig(channels=16, hidden=32, epochs=12, batch=16, learning_rate=5e-3, dropout=0.0)

Planted = tuple[ViewFeatures, Ragged, NDArray[np.float32]]


@pytest.fixture(scope="module")
def planted() -> Planted:
    """Noisy viewpoints, some with one landmark in one view; paths, and the landmarks on each."""
    draw = np.random.default_rng(0)
    views = draw.normal(0, 0.3, (300, 36, 6)).astype(np.float32)
    landmark_of = draw.integers(0, 12, 300)  # a landmark where below 3
    views[np.arange(300), draw.integers(0, 36, 300), np.minimum(landmark_of, 5)] += np.where(
        landmark_of < 3, 6.0, 0.0
    )
    source = Source("toy", views, views.mean(axis=1), {}, (), ())
    features = ViewFeatures("toy", 300, ((source, slice(0, 6)),), False)
    paths = Ragged.of([np.sort(draw.choice(300, 5, replace=False)).tolist() for _ in range(400)])
    named = np.zeros((400, 3), dtype=np.float32)
    for landmark in range(3):
        named[:, landmark] = (landmark_of[paths.values].reshape(400, 5) == landmark).any(axis=1)
    return features, paths, named


@pytest.fixture(scope="module")
def model(planted: Planted) -> LandmarkModel:
    return fit_landmarks(*planted, NAMES, CONFIG)


def network(width: int = 5, landmarks: int = 4) -> LandmarkClassifier:
    torch.manual_seed(0)
    return LandmarkClassifier(width, landmarks, channels=8, hidden=16)


def test_one_logit_per_viewpoint_and_landmark() -> None:
    assert network()(torch.randn(3, 36, 5)).shape == (3, 4)


def test_rotating_the_panorama_leaves_the_logits() -> None:
    views = torch.randn(2, 36, 5)
    turned = views.reshape(2, 3, 12, 5).roll(5, dims=2).reshape(2, 36, 5)
    torch.testing.assert_close(network()(turned), network()(views))


def test_turning_the_panorama_upside_down_changes_the_logits() -> None:
    views = torch.randn(2, 36, 5)
    flipped = views.reshape(2, 3, 12, 5).flip(1).reshape(2, 36, 5)
    assert not torch.allclose(network()(flipped), network()(views))


def test_max_over_paths_takes_the_largest_logit_of_each_landmark() -> None:
    logits = torch.tensor([[1.0, 5.0], [3.0, 2.0], [-9.0, -8.0]])
    assert max_over_paths(logits, Ragged.of([[0, 1], [2]])).tolist() == [[3.0, 5.0], [-9.0, -8.0]]


def test_planted_landmarks_are_found(model: LandmarkModel, planted: Planted) -> None:
    features, paths, named = planted
    scores = max_over_paths(torch.from_numpy(model.logits(features)), paths).numpy()
    assert average_precision(scores, named > 0).min() > 0.95


def test_a_saved_model_loads_with_the_same_logits(
    model: LandmarkModel, planted: Planted, tmp_path: Path
) -> None:
    model.save(tmp_path / "model", notes=["toy"])
    loaded = load_landmarks(tmp_path / "model")
    assert (loaded.config, loaded.vocabulary, loaded.features) == (CONFIG, NAMES, "toy")
    np.testing.assert_array_equal(loaded.logits(planted[0]), model.logits(planted[0]))


def test_equal_seeds_give_equal_weights(planted: Planted) -> None:
    config = replace(CONFIG, epochs=1)
    torch.manual_seed(5)
    first = fit_landmarks(*planted, NAMES, config)
    torch.manual_seed(6)
    second = fit_landmarks(*planted, NAMES, config)
    other = fit_landmarks(*planted, NAMES, replace(config, seed=1))
    np.testing.assert_array_equal(first.logits(planted[0]), second.logits(planted[0]))
    assert not np.array_equal(first.logits(planted[0]), other.logits(planted[0]))


def test_weights_of_another_size_are_refused(model: LandmarkModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    about = tmp_path / "model" / "model.json"
    about.write_text(about.read_text().replace('"hidden": 32', '"hidden": 31'))
    (tmp_path / "model" / "manifest.json").unlink()  # else the changed file is refused
    with pytest.raises(DataError, match=r"weights\.safetensors: weight 'hidden\.bias' has the shape \(32,\)"):
        load_landmarks(tmp_path / "model")


def test_a_file_that_holds_no_weights_is_refused(model: LandmarkModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    (tmp_path / "model" / "weights.safetensors").write_bytes(b"no weights")
    (tmp_path / "model" / "manifest.json").unlink()
    with pytest.raises(DataError, match=r"weights\.safetensors: is not a safetensors file"):
        load_landmarks(tmp_path / "model")


def test_an_invalid_model_json_is_refused(model: LandmarkModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    (tmp_path / "model" / "model.json").write_text('{"config": {"colour": 1}}')
    with pytest.raises(
        DataError, match=r"model\.json: has 25 bytes .* 'babywalk data align' trains it again"
    ):
        load_landmarks(tmp_path / "model")
    (tmp_path / "model" / "manifest.json").unlink()
    with pytest.raises(ConfigError, match=r"model\.json, config: colour is not known"):
        load_landmarks(tmp_path / "model")


def test_other_features_are_refused(model: LandmarkModel, planted: Planted) -> None:
    with pytest.raises(
        ConfigError, match="The classifier was trained on the features 'toy', not on 'resnet'"
    ):
        model.logits(replace(planted[0], spec="resnet"))


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"epochs = 0 .* Give at least 1"):
        LandmarkConfig(epochs=0)
    with pytest.raises(ConfigError, match=r"dropout = 1\.0 .* from 0 to below 1"):
        LandmarkConfig(dropout=1.0)


def test_features_without_columns_are_refused(dollhouse: Path) -> None:
    segmented = SegmentedTexts.of([], frozenset())
    with pytest.raises(ConfigError, match="Landmarks cannot be learned from the features 'none'"):
        train_landmarks(Dataset(dollhouse), segmented, "none")
