from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builders import corridor, placed, walk

from babywalk.buildings.houses import Houses
from babywalk.common.errors import DataError
from babywalk.episodes.walks import Walks, load_walks


@pytest.fixture
def houses() -> Houses:
    return Houses.of([corridor("a", 4), corridor("b", 4)])


def test_walks_use_the_global_index(houses: Houses) -> None:
    walks = placed(houses, walk("a", [0, 1, 2], 7, ["One.", "Two."]), walk("b", [3, 2], 9))
    assert walks.paths[0].tolist() == [0, 1, 2]
    assert walks.paths[1].tolist() == [7, 6]
    assert walks.path_ids.tolist() == [7, 9]
    assert walks.texts == ("One.", "Two.", "Go on.")
    assert walks.first_text.tolist() == [0, 2, 3]
    assert walks.has_goals


@pytest.mark.parametrize(
    ("path", "distance", "has_goals"),
    [
        ([0], None, False),  # a test split: the start alone
        ([0, 1], None, True),  # a path without a distance has a goal all the same
        ([0], 0.0, True),  # the goal is the start
    ],
)
def test_goals_are_unknown_where_only_the_start_is_given(
    houses: Houses, path: list[int], distance: float | None, has_goals: bool
) -> None:
    assert placed(houses, replace(walk("a", path, 1), distance=distance)).has_goals == has_goals


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (walk("c", [0, 1], 5), r"walks.json: path_id 5: field 'scan' is 'c'; expected a house"),
        (walk("a", [0, 9], 5), r"path_id 5: field 'path' has '9'; expected included viewpoints of a"),
        (walk("b", [0, 2], 5), r"field 'path' goes from '0' to '2'; expected steps along edges of b"),
        (walk("a", [1, 1], 5), r"path_id 5: field 'path' goes from '1' to '1'"),
    ],
)
def test_a_walk_that_does_not_follow_edges_is_rejected(houses: Houses, bad: object, message: str) -> None:
    fine = walk("a", [0, 1], 4)
    with pytest.raises(DataError, match=message):
        placed(houses, fine, bad, replace(fine, path_id=6))


def test_an_empty_split_is_allowed(houses: Houses) -> None:
    assert len(Walks.of([], houses, source=Path("x"))) == 0


def test_walks_are_loaded_from_a_file(houses: Houses, tmp_path: Path) -> None:
    from babywalk.assets.r2r import write_walks

    write_walks(tmp_path / "R2R_x.json", [walk("a", [0, 1], 4)])
    assert load_walks(tmp_path / "R2R_x.json", houses).paths[0].tolist() == [0, 1]
