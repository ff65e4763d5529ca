from __future__ import annotations

import shutil
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from builders import connectivity, corridor
from hypothesis import given
from hypothesis import strategies as st

from babywalk.assets.connectivity import write_connectivity
from babywalk.buildings import houses as houses_module
from babywalk.buildings.houses import NOWHERE, Houses, geodesics, load_houses
from babywalk.common.errors import ConfigError, DataError


@pytest.fixture
def two() -> Houses:
    """A corridor of three viewpoints, then one of four."""
    return Houses.of([corridor("a", 3), corridor("b", 4, spacing=1.5)])


def test_viewpoints_of_a_house_are_contiguous(two: Houses) -> None:
    assert two.first.tolist() == [0, 3, 7]
    assert two.house_of.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert two.viewpoints("b") == {"0": 3, "1": 4, "2": 5, "3": 6}


def test_distances_within_and_between_houses(two: Houses) -> None:
    a, b = np.array([0, 3, 3, 2, 0]), np.array([2, 6, 3, 0, 3])
    assert two.distance(a, b).tolist() == [4, 4.5, 0, 4, np.inf]
    assert two.distance(np.array([[0], [1]]), np.array([0, 1, 2])).tolist() == [[0, 2, 4], [2, 0, 2]]


def test_step_towards_is_on_the_shortest_path(two: Houses) -> None:
    assert two.step_towards(np.array([0, 6, 4]), np.array([2, 3, 4])).tolist() == [1, 5, 4]


def test_neighbours_are_padded(two: Houses) -> None:
    assert two.neighbours.tolist() == [[1, -1], [0, 2], [1, -1], [4, -1], [3, 5], [4, 6], [5, -1]]
    assert two.degree.tolist() == [1, 2, 1, 1, 2, 2, 1]
    assert two.adjacent(np.array([0, 0, 5]), np.array([1, 2, 6])).tolist() == [True, False, True]


def test_the_length_of_a_path(two: Houses) -> None:
    assert two.length(np.array([3, 4, 3, 4])) == 4.5
    assert two.length(np.array([3])) == 0


def test_visible_is_a_table_of_pairs() -> None:
    house = connectivity("c", [(0, 0, 0), (0, 1, 0), (0, 2, 0)], [(0, 1), (1, 2)])
    house.visible[0, 2] = True  # but not in the other direction
    houses = Houses.of([corridor("a", 2), house])
    assert houses.visible[houses.row[2] + np.array([2, 3, 4])].tolist() == [False, True, True]
    assert houses.visible[houses.row[4] + np.array([2, 3, 4])].tolist() == [False, True, False]


def test_an_unknown_house_is_rejected(two: Houses) -> None:
    with pytest.raises(ConfigError, match=r"House 'aa' is not known. Choose from: a, b\.|Did you mean 'a'"):
        two.viewpoints("aa")


def test_a_house_without_viewpoints_is_rejected() -> None:
    empty = connectivity("ghost", np.zeros((0, 3)), [])
    with pytest.raises(DataError, match="House 'ghost' has no included viewpoint"):
        Houses.of([corridor("a", 2), empty])


def test_the_key_depends_on_the_order(two: Houses) -> None:
    other = Houses.of([corridor("b", 4), corridor("a", 3)])
    assert other.key != two.key
    assert Houses.of([corridor("a", 3), corridor("b", 4)]).key == two.key


@pytest.mark.real
def test_the_real_houses(real_data: Path) -> None:
    houses = load_houses(real_data / "connectivity")
    assert (len(houses), len(houses.names)) == (90, 10_567)
    assert houses.neighbours.shape[1] == 13
    assert round(float(houses.degree.mean()), 2) == 4.06
    assert (houses.degree == 0).sum() == 8
    assert np.diff(houses.first).max() == 348
    alone = np.flatnonzero(houses.degree == 0)[0]
    assert np.isinf(houses.distance(alone, houses.first[houses.house_of[alone]] + (alone == 0)))


def test_distances_are_sums_of_edge_lengths() -> None:
    # 0 - 1 - 2 in an L with sides 3 and 4; 3 stands alone.
    positions = np.array([[0, 0, 0], [3, 0, 0], [3, 4, 0], [9, 9, 9]], dtype=float)
    walkable = np.zeros((4, 4), dtype=bool)
    walkable[[0, 1, 1, 2], [1, 0, 2, 1]] = True
    distance, onward = geodesics(positions, walkable)
    assert distance[0].tolist() == [0, 3, 7, np.inf]
    assert onward[0].tolist() == [0, 1, 1, NOWHERE]
    assert onward[2].tolist() == [1, 1, 2, NOWHERE]
    assert onward[3].tolist() == [NOWHERE, NOWHERE, NOWHERE, 3]


def test_edge_lengths_include_height() -> None:
    positions = np.array([[0, 0, 0], [0, 3, 4]], dtype=float)
    distance, _ = geodesics(positions, np.array([[False, True], [True, False]]))
    assert distance[0, 1] == pytest.approx(5)


@given(st.integers(0, 10_000))
def test_following_next_viewpoints_gives_the_shortest_path(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = 8
    walkable = np.triu(random.random((count, count)) < 0.3, 1)
    walkable |= walkable.T
    positions = random.random((count, 3))
    distance, onward = geodesics(positions, walkable)
    assert np.allclose(distance, distance.T)
    for a, b in np.ndindex(count, count):
        if np.isinf(distance[a, b]):
            assert onward[a, b] == NOWHERE
            continue
        at, walked = a, 0.0
        while at != b:
            after = onward[at, b]
            assert walkable[at, after]
            walked += float(np.linalg.norm(positions[at] - positions[after]))
            at = after
        assert walked == pytest.approx(distance[a, b])


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "connectivity"
    for scan, length in (("a", 3), ("b", 5)):
        write_connectivity(folder / f"{scan}_connectivity.json", corridor(scan, length))
    return folder


def same(one: Houses, other: Houses) -> bool:
    tables = ("first", "positions", "neighbours", "distances", "next_step", "visible")
    return (one.scans, one.names) == (other.scans, other.names) and all(
        np.array_equal(getattr(one, table), getattr(other, table)) for table in tables
    )


def test_the_cache_gives_the_same_houses(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = load_houses(raw, tmp_path / "cache")
    monkeypatch.setattr(houses_module, "read_connectivity", None)  # would fail if it were called
    assert same(load_houses(raw, tmp_path / "cache"), built)


def test_changed_files_are_built_again(raw: Path, tmp_path: Path) -> None:
    load_houses(raw, tmp_path / "cache")
    write_connectivity(raw / "b_connectivity.json", corridor("b", 6))
    assert len(load_houses(raw, tmp_path / "cache").names) == 9
    shutil.move(raw / "b_connectivity.json", raw / "c_connectivity.json")
    assert load_houses(raw, tmp_path / "cache").scans == ("a", "c")


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 cut short", None])
def test_a_damaged_cache_is_built_again(raw: Path, tmp_path: Path, damage: bytes | None) -> None:
    built = load_houses(raw, tmp_path / "cache")
    (stored,) = (tmp_path / "cache").iterdir()
    stored.write_bytes(stored.read_bytes()[:1000] if damage is None else damage)
    assert same(load_houses(raw, tmp_path / "cache"), built)


def test_an_unwritable_cache_is_ignored(raw: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "cache"
    blocked.write_text("a file where the folder should be")
    assert len(load_houses(raw, blocked)) == 2


def test_processes_may_build_the_cache_at_the_same_time(raw: Path, tmp_path: Path) -> None:
    with get_context("spawn").Pool(2) as pool:
        counts = pool.starmap(_count, [(raw, tmp_path / "cache")] * 4)
    assert counts == [8] * 4
    assert [file.suffix for file in (tmp_path / "cache").iterdir()] == [".npz"]


def _count(raw: Path, stored: Path) -> int:
    return len(load_houses(raw, stored).names)


def test_house_whose_tables_would_not_fit_in_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    house = connectivity("h", [(0, 0, 0), (1, 0, 0)], [(0, 1)])
    monkeypatch.setattr("babywalk.common.memory.available_memory", lambda: 179)  # 45 for each of 4 pairs
    with pytest.raises(DataError, match="with a house of 2 viewpoints, needs about 180 B of memory"):
        Houses.of([house])
