"""Navigation graphs: the raw format round-trips, and an invalid file is rejected with the reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babywalk.assets.connectivity import (
    Connectivity,
    connectivity_files,
    read_connectivity,
    write_connectivity,
)
from babywalk.common.errors import DataError


def viewpoint(name: str, neighbours: list[bool]) -> dict[str, Any]:
    pose = [1.0, 0, 0, 1.5, 0, 1, 0, 2.5, 0, 0, 1, 3.5, 0, 0, 0, 1]
    return {
        "image_id": name,
        "pose": pose,
        "included": True,
        "visible": neighbours,
        "unobstructed": neighbours,
        "height": 1.6,
    }


def pair() -> list[dict[str, Any]]:
    return [viewpoint("a", [False, True]), viewpoint("b", [True, False])]


def written(folder: Path, value: object) -> Path:
    file = folder / "house_connectivity.json"
    file.write_text(json.dumps(value))
    return file


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    walkable = np.triu(rng.random((count, count)) < 0.5, 1)
    visible = rng.random((count, count)) < 0.5
    np.fill_diagonal(visible, False)
    house = Connectivity(
        scan="some_house",
        viewpoints=tuple(f"v{index}" for index in range(count)),
        positions=rng.normal(size=(count, 3)),
        heights=rng.random(count),
        unobstructed=walkable | walkable.T,
        visible=visible,
    )
    file = tmp_path_factory.mktemp("round") / "some_house_connectivity.json"
    write_connectivity(file, house)
    again = read_connectivity(file)
    assert (again.scan, again.viewpoints) == (house.scan, house.viewpoints)
    for field in ("positions", "heights", "unobstructed", "visible"):
        np.testing.assert_array_equal(getattr(again, field), getattr(house, field))


def test_position_is_the_last_column_of_the_pose(tmp_path: Path) -> None:
    house = read_connectivity(written(tmp_path, pair()))
    np.testing.assert_array_equal(house.positions, [[1.5, 2.5, 3.5]] * 2)


def test_a_viewpoint_that_is_not_included_is_dropped_with_its_edges(tmp_path: Path) -> None:
    rows = [viewpoint(name, [True] * 3) for name in "abc"]
    rows[1]["included"] = False
    rows[1]["unobstructed"] = [False] * 3
    house = read_connectivity(written(tmp_path, rows))
    assert house.viewpoints == ("a", "c")
    np.testing.assert_array_equal(house.unobstructed, [[False, True], [True, False]])


def test_no_viewpoint_is_its_own_neighbour(tmp_path: Path) -> None:
    house = read_connectivity(written(tmp_path, [viewpoint("a", [True, True]), viewpoint("b", [True, True])]))
    assert not house.unobstructed.diagonal().any()
    assert not house.visible.diagonal().any()


@pytest.mark.parametrize(
    ("corrupt", "message"),
    [
        (lambda rows: rows[1].pop("image_id"), "viewpoint 1 has no field 'image_id'; expected a string."),
        (lambda rows: rows[1].pop("height"), "viewpoint 1 has no field 'height'; expected a finite number."),
        (
            lambda rows: rows[0]["pose"].__setitem__(3, float("nan")),
            "viewpoint 0: field 'pose' is a list of 16; expected 16 finite numbers.",
        ),
        (
            lambda rows: rows[0]["pose"].pop(),
            "viewpoint 0: field 'pose' is a list of 15; expected 16 finite numbers.",
        ),
        (
            lambda rows: rows[1].update(visible=[True] * 3),
            "viewpoint 1: field 'visible' is a list of 3; "
            "expected 2 booleans, one per viewpoint of the file.",
        ),
        (
            lambda rows: rows[1].update(included="yes"),
            "viewpoint 1: field 'included' is 'yes'; expected true or false.",
        ),
        (
            lambda rows: rows[1].update(image_id="a"),
            "field 'image_id' must be unique; found more than once: a.",
        ),
        (
            lambda rows: rows[1].update(unobstructed=[False, False]),
            "field 'unobstructed' must be symmetric; one-way edges: a to b.",
        ),
        (lambda rows: rows.append(7), "viewpoint 2 is 7; expected an object."),
        (lambda rows: rows.clear(), "contains no viewpoints."),
    ],
)
def test_an_invalid_file_is_rejected(
    tmp_path: Path, corrupt: Callable[[list[Any]], object], message: str
) -> None:
    rows = pair()
    corrupt(rows)
    file = written(tmp_path, rows)
    with pytest.raises(DataError, match="^" + re.escape(f"{file}: {message}") + "$"):
        read_connectivity(file)


def test_a_truncated_file_is_reported(tmp_path: Path) -> None:
    file = written(tmp_path, pair())
    file.write_text(file.read_text().removesuffix("}]"))
    with pytest.raises(DataError, match=r"line 1 is not valid JSON .the file ends too early; copy it again."):
        read_connectivity(file)


def test_a_file_name_without_a_scan_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "house.json"
    message = f"{file}: expected a file name that ends with _connectivity.json."
    with pytest.raises(DataError, match=re.escape(message)):
        read_connectivity(file)


def test_a_folder_without_houses_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=re.escape(f"{tmp_path / 'no'}: folder not found.")):
        connectivity_files(tmp_path / "no")
    with pytest.raises(DataError, match=r"has no file named <scan>_connectivity.json"):
        connectivity_files(tmp_path)


@pytest.mark.real
def test_all_real_houses(real_data: Path) -> None:
    houses = [read_connectivity(file) for file in connectivity_files(real_data / "connectivity")]
    neighbours = np.concatenate([house.unobstructed.sum(axis=1) for house in houses])
    assert len(houses) == 90
    assert len(neighbours) == 10_567
    assert max(len(house.viewpoints) for house in houses) == 348
    assert neighbours.max() == 13
    assert (neighbours == 0).sum() == 8
    assert round(float(neighbours.mean()), 2) == 4.06


def test_file_that_would_not_fit_in_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "big_connectivity.json"
    file.write_text(" " * 1000)
    monkeypatch.setattr("babywalk.common.memory.available_memory", lambda: 5999)
    with pytest.raises(DataError, match=r"big_connectivity\.json: reading it needs about 6\.0 KB of memory"):
        read_connectivity(file)
