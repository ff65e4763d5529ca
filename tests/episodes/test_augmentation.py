"""New paths for a speaker to describe."""

from __future__ import annotations

import numpy as np
import pytest

from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError
from babywalk.episodes.augmentation import sample_paths
from tests.builders import corridor, placed, walk


def sampled(houses: Houses, count: int, *described: object, seed: int = 0) -> set[tuple[int, ...]]:
    walks = placed(houses, *described)
    paths, headings = sample_paths(houses, [walks], count, seed=seed)
    assert len(headings) == len(paths)
    assert set(headings) <= set(walks.headings)
    return {tuple(paths[row].tolist()) for row in range(len(paths))}


def test_new_paths_are_undescribed_shortest_paths_of_four_to_six_edges() -> None:
    houses = Houses.of([corridor("a", 6)])  # along a corridor: 0 to 4, 1 to 5 and 0 to 5, and back
    found = sampled(houses, 100, walk("a", [0, 1, 2, 3, 4], 1))
    there = {(1, 2, 3, 4, 5), (0, 1, 2, 3, 4, 5)}
    back = {path[::-1] for path in there} | {(4, 3, 2, 1, 0)}
    assert found == there | back


def test_new_paths_are_at_least_five_metres_long() -> None:
    houses = Houses.of([corridor("a", 6, spacing=1.1)])  # four edges are 4.4 m, five 5.5 m
    assert sampled(houses, 100, walk("a", [0, 1], 1)) == {(0, 1, 2, 3, 4, 5), (5, 4, 3, 2, 1, 0)}


def test_paths_are_balanced_over_houses() -> None:
    houses = Houses.of(
        [corridor("a", 30, prefix="a"), corridor("b", 8, prefix="b"), corridor("c", 9, prefix="c")]
    )
    described = walk("a", [0, 1], 1, prefix="a"), walk("b", [0, 1], 2, prefix="b")
    found = sampled(houses, 10, *described)
    assert len(found) == 10
    homes = [int(houses.house_of[path[0]]) for path in found]
    assert np.bincount(homes, minlength=3).tolist() == [5, 5, 0]  # c has no described walk


def test_the_seed_determines_the_paths() -> None:
    houses = Houses.of([corridor("a", 40)])
    described = walk("a", [0, 1], 1)
    assert sampled(houses, 20, described) == sampled(houses, 20, described)
    assert sampled(houses, 20, described) != sampled(houses, 20, described, seed=1)


def test_houses_without_new_paths_are_rejected() -> None:
    houses = Houses.of([corridor("a", 3)])
    with pytest.raises(ConfigError, match="no undescribed paths of R2R's length"):
        sampled(houses, 10, walk("a", [0, 1], 1))


def test_a_count_of_zero_is_rejected() -> None:
    houses = Houses.of([corridor("a", 6)])
    with pytest.raises(ConfigError, match="at least 1"):
        sampled(houses, 0, walk("a", [0, 1], 1))
