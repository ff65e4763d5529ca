"""Walks: the raw format round-trips, and an invalid file is rejected with the reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babywalk.assets.r2r import Walk, r2r_file, read_walks, write_walks
from babywalk.common.errors import DataError

TEXT = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
WALK = st.builds(
    Walk,
    scan=TEXT,
    path_id=st.integers(0, 10**9),
    path=st.lists(TEXT, min_size=1).map(tuple),
    heading=NUMBER,
    instructions=st.lists(TEXT, min_size=1, max_size=4).map(tuple),
    distance=st.none() | NUMBER,
)


def row() -> dict[str, Any]:
    return {
        "scan": "s",
        "path_id": 7,
        "path": ["a", "b"],
        "heading": 0.5,
        "distance": 3.25,
        "instructions": ["Go.", "Walk.", "Move."],
    }


@settings(max_examples=50, deadline=None)
@given(walks=st.lists(WALK, max_size=4, unique_by=lambda walk: walk.path_id))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, walks: list[Walk]) -> None:
    file = r2r_file(tmp_path_factory.mktemp("round"), "train")
    assert file.name == "R2R_train.json"
    write_walks(file, walks)
    assert read_walks(file) == walks


@pytest.mark.parametrize(
    ("corrupt", "message"),
    [
        (lambda row: row.pop("scan"), "record 1 has no field 'scan'; expected a string."),
        (lambda row: row.update(path_id=1.5), "record 1: field 'path_id' is 1.5; expected an integer."),
        (
            lambda row: row.update(path=[]),
            "record 1: field 'path' is a list of 0; expected a non-empty list of non-empty strings.",
        ),
        (lambda row: row.update(path="ab"), "record 1: field 'path' is 'ab'; expected a list of strings."),
        (
            lambda row: row.update(heading=float("nan")),
            "record 1: field 'heading' is nan; expected a finite number.",
        ),
        (
            lambda row: row.update(distance=None),
            "record 1: field 'distance' is None; expected a finite number.",
        ),
        (
            lambda row: row.update(instructions=["Go.", ""]),
            "record 1: field 'instructions' is a list of 2; expected a non-empty list of non-empty strings.",
        ),
        (lambda row: row.update(path_id=7), "field 'path_id' must be unique; found more than once: 7."),
    ],
)
def test_an_invalid_file_is_rejected(
    tmp_path: Path, corrupt: Callable[[dict[str, Any]], object], message: str
) -> None:
    second = row() | {"path_id": 8}
    corrupt(second)
    file = tmp_path / "R2R_train.json"
    file.write_text(json.dumps([row(), second]))
    with pytest.raises(DataError, match="^" + re.escape(f"{file}: {message}") + "$"):
        read_walks(file)


def test_a_file_that_is_not_a_list_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "R2R_train.json"
    file.write_text("{}")
    with pytest.raises(
        DataError, match=re.escape(f"{file}: contains an object of 0 fields; expected a list of rec")
    ):
        read_walks(file)


@pytest.mark.real
@pytest.mark.parametrize(
    ("split", "instructions", "paths"),
    [("train", 14_039, 4_675), ("val_seen", 1_021, 340), ("val_unseen", 2_349, 783), ("test", None, None)],
)
def test_the_real_splits(real_data: Path, split: str, instructions: int | None, paths: int | None) -> None:
    walks = read_walks(r2r_file(real_data / "R2R", split))
    if split == "test":
        assert all(len(walk.path) == 1 and walk.distance is None for walk in walks)
    else:
        assert len(walks) == paths
        assert sum(len(walk.instructions) for walk in walks) == instructions
        assert all(len(walk.path) > 1 and walk.distance is not None for walk in walks)
