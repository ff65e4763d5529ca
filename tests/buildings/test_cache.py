from __future__ import annotations

import shutil
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from builders import corridor

from babywalk.assets.connectivity import write_connectivity
from babywalk.buildings import cache
from babywalk.buildings.cache import load_houses
from babywalk.buildings.houses import Houses


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "connectivity"
    for scan, length in (("a", 3), ("b", 5)):
        write_connectivity(folder / f"{scan}_connectivity.json", corridor(scan, length))
    return folder


def same(one: Houses, other: Houses) -> bool:
    tables = ("first", "positions", "neighbours", "distances", "onward", "sight")
    return (one.scans, one.names) == (other.scans, other.names) and all(
        np.array_equal(getattr(one, table), getattr(other, table)) for table in tables
    )


def test_from_the_cache_as_from_the_files(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = load_houses(raw, tmp_path / "cache")
    monkeypatch.setattr(cache, "read_connectivity", None)  # would fail if it were called
    assert same(load_houses(raw, tmp_path / "cache"), built)


def test_other_content_is_built_anew(raw: Path, tmp_path: Path) -> None:
    load_houses(raw, tmp_path / "cache")
    write_connectivity(raw / "b_connectivity.json", corridor("b", 6))
    assert len(load_houses(raw, tmp_path / "cache").names) == 9
    shutil.move(raw / "b_connectivity.json", raw / "c_connectivity.json")
    assert load_houses(raw, tmp_path / "cache").scans == ("a", "c")


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 cut short", None])
def test_a_damaged_cache_is_built_anew(raw: Path, tmp_path: Path, damage: bytes | None) -> None:
    built = load_houses(raw, tmp_path / "cache")
    (stored,) = (tmp_path / "cache").iterdir()
    stored.write_bytes(stored.read_bytes()[:1000] if damage is None else damage)
    assert same(load_houses(raw, tmp_path / "cache"), built)


def test_a_cache_that_cannot_be_written_costs_only_time(raw: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "cache"
    blocked.write_text("a file where the folder should be")
    assert len(load_houses(raw, blocked)) == 2


def test_two_processes_may_build_it_at_once(raw: Path, tmp_path: Path) -> None:
    with get_context("spawn").Pool(2) as pool:
        counts = pool.starmap(_count, [(raw, tmp_path / "cache")] * 4)
    assert counts == [8] * 4
    assert [file.suffix for file in (tmp_path / "cache").iterdir()] == [".npz"]


def _count(raw: Path, stored: Path) -> int:
    return len(load_houses(raw, stored).names)
