"""Where walkers go during a search."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from builders import connectivity
from scipy.sparse.csgraph import dijkstra

from babywalk.buildings.houses import Houses
from babywalk.decoding.walking import Exploration
from babywalk.navigation.world import Poses, World


def world_of(positions: Sequence[Sequence[float]], edges: Sequence[tuple[int, int]]) -> World:
    return World.of(Houses.of([connectivity("h", positions, edges)])).to("cpu")


def at(viewpoints: Sequence[int]) -> Poses:
    return Poses(torch.tensor(viewpoints), torch.zeros(len(viewpoints), dtype=torch.int64))


def route(world: World, visits: Sequence[int]) -> list[int]:
    walking = Exploration(world, at(visits[:1]), capacity=1)
    for viewpoint in visits[1:]:
        walking.visit(torch.tensor([0]), at([viewpoint]))
    found: list[int] = walking.trajectories().viewpoints[0].tolist()
    return found


def test_the_walker_goes_back_by_the_shortest_way_that_it_knows() -> None:
    """A ring of six. From 3 to 5 the short way is over 4, which the walker knows only after it was there."""
    ring = [(np.cos(angle), np.sin(angle), 0.0) for angle in np.arange(6) * np.pi / 3]
    world = world_of(ring, [(number, (number + 1) % 6) for number in range(6)])
    assert route(world, [0, 1, 2, 3, 5]) == [0, 1, 2, 3, 2, 1, 0, 5]
    assert route(world, [0, 1, 2, 3, 4, 5, 3]) == [0, 1, 2, 3, 4, 5, 4, 3]
    assert route(world, [0, 1, 2, 3, 4, 5, 1]) == [0, 1, 2, 3, 4, 5, 0, 1]


def test_one_move_is_preferred_to_two_of_the_same_length() -> None:
    world = world_of([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1), (1, 2), (0, 2)])
    assert route(world, [0, 1, 0, 2]) == [0, 1, 0, 2]


def test_the_view_is_the_one_of_the_last_move() -> None:
    world = world_of([(0, 0, 0), (0, 1, 0), (0, 2, 0)], [(0, 1), (1, 2)])
    walking = Exploration(world, at([0]))
    for viewpoint in (1, 2, 0):
        walking.visit(torch.tensor([0]), at([viewpoint]))
    # North is view 12, south 18.
    assert walking.trajectories().views[0].tolist() == [0, 12, 12, 18, 18]


@pytest.mark.parametrize("seed", range(3))
def test_every_leg_is_a_shortest_path_among_visited_viewpoints(seed: int) -> None:
    """Two walkers in a random house, against Dijkstra's algorithm in the graph that each has seen."""
    random = np.random.default_rng(seed)
    positions = random.random((14, 3))
    edges = [(a, b) for a, b in itertools.combinations(range(14), 2) if random.random() < 0.25]
    edges += [(number, number + 1) for number in range(13)]
    world = world_of(positions.tolist(), edges)
    length = np.full((14, 14), np.inf)
    for a, b in edges:
        length[a, b] = length[b, a] = np.linalg.norm(positions[a] - positions[b])
    starts = [0, 7]
    walking = Exploration(world, at(starts), capacity=2)
    visited: list[set[int]] = [{start} for start in starts]
    now = list(starts)
    metres = [0.0, 0.0]
    for _ in range(40):
        walkers = [0, 1] if random.random() < 0.7 else [int(random.integers(2))]
        goals = []
        for walker in walkers:
            near = {b for a in visited[walker] for b in np.flatnonzero(np.isfinite(length[a])).tolist()}
            goals.append(int(random.choice(sorted(near | visited[walker]))))
        walking.visit(torch.tensor(walkers), at(goals))
        for walker, goal in zip(walkers, goals, strict=True):
            visited[walker].add(goal)
            known = sorted(visited[walker])
            inside = np.full_like(length, np.inf)
            inside[np.ix_(known, known)] = length[np.ix_(known, known)]
            metres[walker] += dijkstra(np.where(np.isinf(inside), 0, inside))[now[walker], goal]
            now[walker] = goal
    found = walking.trajectories().viewpoints
    for walker in range(2):
        path = found[walker].tolist()
        assert path[-1] == now[walker]
        assert set(path) == visited[walker]
        assert sum(length[a, b] for a, b in itertools.pairwise(path)) == pytest.approx(
            metres[walker], abs=0.02
        )
