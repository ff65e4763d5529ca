"""Walks that nobody has described."""

from __future__ import annotations

import numpy as np
import pytest

from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError
from babywalk.episodes.augmentation import draw_unspoken
from tests.builders import corridor, placed, walk


def ways(houses: Houses, count: int, *described: object, seed: int = 0) -> set[tuple[int, ...]]:
    walks = placed(houses, *described)
    paths, headings = draw_unspoken(houses, [walks], count, seed=seed)
    assert len(headings) == len(paths)
    assert set(headings) <= set(walks.headings)
    return {tuple(paths[row].tolist()) for row in range(len(paths))}


def test_they_are_the_shortest_ways_of_four_to_six_edges_that_are_not_described() -> None:
    houses = Houses.of([corridor("a", 6)])  # along a corridor: 0 to 4, 1 to 5 and 0 to 5, and back
    found = ways(houses, 100, walk("a", [0, 1, 2, 3, 4], 1))
    there = {(1, 2, 3, 4, 5), (0, 1, 2, 3, 4, 5)}
    back = {way[::-1] for way in there} | {(4, 3, 2, 1, 0)}
    assert found == there | back


def test_they_are_at_least_five_metres_long() -> None:
    houses = Houses.of([corridor("a", 6, spacing=1.1)])  # four edges are 4.4 m, five 5.5 m
    assert ways(houses, 100, walk("a", [0, 1], 1)) == {(0, 1, 2, 3, 4, 5), (5, 4, 3, 2, 1, 0)}


def test_each_house_of_the_walks_gives_as_many() -> None:
    houses = Houses.of(
        [corridor("a", 30, prefix="a"), corridor("b", 8, prefix="b"), corridor("c", 9, prefix="c")]
    )
    described = walk("a", [0, 1], 1, prefix="a"), walk("b", [0, 1], 2, prefix="b")
    found = ways(houses, 10, *described)
    assert len(found) == 10
    homes = [int(houses.house_of[way[0]]) for way in found]
    assert np.bincount(homes, minlength=3).tolist() == [5, 5, 0]  # nobody has walked in c


def test_a_seed_draws_the_same_again_and_another_draws_others() -> None:
    houses = Houses.of([corridor("a", 40)])
    described = walk("a", [0, 1], 1)
    assert ways(houses, 20, described) == ways(houses, 20, described)
    assert ways(houses, 20, described) != ways(houses, 20, described, seed=1)


def test_houses_without_new_walks_are_refused() -> None:
    houses = Houses.of([corridor("a", 3)])
    with pytest.raises(ConfigError, match="no walks like those of R2R that nobody has described"):
        ways(houses, 10, walk("a", [0, 1], 1))


def test_none_are_refused() -> None:
    houses = Houses.of([corridor("a", 6)])
    with pytest.raises(ConfigError, match="at least 1"):
        ways(houses, 0, walk("a", [0, 1], 1))
