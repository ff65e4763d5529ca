from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from builders import connectivity

from babywalk.assets.view_features import Panorama
from babywalk.buildings.features import convert_panoramas, open_features
from babywalk.buildings.houses import Houses
from babywalk.navigation.observation import Observer
from babywalk.navigation.world import Poses, World

WIDTH = 2


@pytest.fixture
def houses() -> Houses:
    """0 in the middle, 1 east of it, 2 north of it."""
    return Houses.of([connectivity("h", [(0, 0, 0), (2, 0, 0), (0, 2, 0)], [(0, 1), (0, 2)])])


@pytest.fixture
def data(tmp_path: Path, houses: Houses) -> Path:
    """The features of view v at viewpoint n are (n, v)."""
    panoramas = (
        Panorama("h", name, np.column_stack([np.full(36, number), np.arange(36)]).astype(np.float32))
        for number, name in enumerate(houses.names)
    )
    convert_panoramas(tmp_path, "plain", panoramas, houses)
    return tmp_path


def observer(data: Path, houses: Houses, spec: str) -> Observer:
    return Observer.of(World.of(houses), open_features(data, spec, houses))


def test_views_have_features_and_orientations(data: Path, houses: Houses) -> None:
    seen = observer(data, houses, "plain").views(Poses(np.array([1, 0]), np.array([12 + 3, 12])))
    assert seen.shape == (2, 36, WIDTH + 128)
    assert seen.dtype == np.float32
    assert seen[0, 20, :2].tolist() == [1, 20]
    # A walker facing east has view 12 + 3 straight ahead and view 24 + 6 (south, 30 degrees up) to the right.
    assert seen[0, 12 + 3, 2:6] == pytest.approx([0, 1, 0, 1], abs=1e-6)
    assert seen[0, 24 + 6, 2:6] == pytest.approx([1, 0, 0.5, np.sqrt(0.75)], abs=1e-6)
    assert (seen[0, :, 2:6] == seen[0, :, -4:]).all()  # tiled


def test_scaling_changes_features_but_not_directions(data: Path, houses: Houses) -> None:
    plain = observer(data, houses, "plain+lookahead")
    poses = Poses(np.array([1]), np.array([12]))
    scaled = plain.scaled(3.0)
    assert (scaled.views(poses)[..., :2] == 3 * plain.views(poses)[..., :2]).all()
    assert (scaled.views(poses)[..., 2:] == plain.views(poses)[..., 2:]).all()
    assert (scaled.candidates(poses)[..., -2:] == 3 * plain.candidates(poses)[..., -2:]).all()


def test_the_mirrored_observer_equals_an_observer_of_the_mirrored_house() -> None:
    """The mirrored house has x negated and its views reordered."""
    positions, edges = [(0, 0, 0), (2, 1, 0), (0, 2, 1), (-3, 1, 0)], [(0, 1), (0, 2), (0, 3), (1, 2)]
    house = Houses.of([connectivity("h", positions, edges)])
    other = Houses.of([connectivity("h", [(-x, y, z) for x, y, z in positions], edges)])
    views = np.random.default_rng(0).random((4, 36, 3), dtype=np.float32)
    flipped = np.arange(36) // 12 * 12 + -np.arange(36) % 12
    mirrored = Observer.over(World.of(house), views).mirrored()
    expected = Observer.over(World.of(other), views[:, flipped])
    at, facing = np.array([0, 1, 2, 3, 0]), np.array([12, 15, 20, 31, 4])
    assert mirrored.candidates(Poses(at, facing)) == pytest.approx(
        expected.candidates(Poses(at, flipped[facing])), abs=1e-6
    )
    assert mirrored.views(Poses(at, facing)) == pytest.approx(
        expected.views(Poses(at, flipped[facing]))[:, flipped], abs=1e-6
    )
    after = mirrored.world.step(Poses(at, facing), np.ones(5, dtype=np.int64))
    moved = expected.world.step(Poses(at, flipped[facing]), np.ones(5, dtype=np.int64))
    assert (after.viewpoint == moved.viewpoint).all()
    assert (flipped[after.view] == moved.view).all()


def test_candidates_have_the_features_of_the_view_that_shows_them(data: Path, houses: Houses) -> None:
    seen = observer(data, houses, "plain").candidates(Poses(np.array([0, 2]), np.array([12, 12 + 6])))
    assert seen.shape == (2, 3, WIDTH + 128)
    assert not seen[:, 0].any()  # STOP
    assert seen[0, 1, :6] == pytest.approx([0, 15, 1, 0, 0, 1], abs=1e-6)  # east: view 15, to the right
    assert seen[0, 2, :6] == pytest.approx([0, 12, 0, 1, 0, 1], abs=1e-6)  # north: view 12, ahead
    assert seen[1, 1, :6] == pytest.approx([2, 18, 0, 1, 0, 1], abs=1e-6)  # south, straight ahead
    assert not seen[1, 2].any()  # no second neighbour


def test_look_ahead_adds_the_panorama_of_the_neighbour(data: Path, houses: Houses) -> None:
    sees = observer(data, houses, "plain+lookahead")
    assert sees.candidate_width == sees.view_width + WIDTH
    seen = sees.candidates(Poses(np.array([0]), np.array([12])))
    assert seen[0, :, -2:].tolist() == [[0, 0], [1, 17.5], [2, 17.5]]


def test_without_features_only_directions_are_observed(data: Path, houses: Houses) -> None:
    sees = observer(data, houses, "none")
    poses = Poses(np.array([0]), np.array([12]))
    assert sees.views(poses).shape == (1, 36, 128)
    assert sees.candidates(poses)[0, 1, :4] == pytest.approx([1, 0, 0, 1], abs=1e-6)


@pytest.mark.parametrize("spec", ["plain", "plain+lookahead", "none"])
def test_torch_observations_equal_numpy_observations(data: Path, houses: Houses, spec: str) -> None:
    pytest.importorskip("torch")
    sees = observer(data, houses, spec)
    other = sees.to("cpu")
    poses = Poses(np.array([0, 1, 2, 0]), np.array([13, 2, 30, 22]))
    tensors = poses.to("cpu")
    assert np.allclose(other.views(tensors).numpy(), sees.views(poses))
    assert np.allclose(other.candidates(tensors).numpy(), sees.candidates(poses))


def test_chosen_is_the_candidate_of_the_action(data: Path, houses: Houses) -> None:
    poses, actions = Poses(np.array([0, 2, 0]), np.array([12, 12 + 6, 3])), np.array([2, 1, 0])
    seen = observer(data, houses, "plain")
    assert (seen.chosen(poses, actions) == seen.candidates(poses)[np.arange(3), actions]).all()
