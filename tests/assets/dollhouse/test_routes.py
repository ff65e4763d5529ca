from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import dijkstra

from babywalk.assets.dollhouse.routes import draw_paths


def test_paths_are_shortest_with_4_to_6_edges_and_5_metres(houses):
    for number, house in enumerate(houses):
        steps = np.linalg.norm(house.positions[:, None] - house.positions[None], axis=2)
        distance = dijkstra(np.where(house.unobstructed, steps, 0))
        for path in draw_paths(house, 30, np.random.default_rng(number)):
            a, b = np.array(path.nodes[:-1]), np.array(path.nodes[1:])
            assert 4 <= len(a) <= 6
            assert house.unobstructed[a, b].all()
            assert path.length >= 5
            assert abs(steps[a, b].sum() - distance[path.nodes[0], path.nodes[-1]]) < 1e-9
            assert abs(path.length - steps[a, b].sum()) < 0.006
            assert 0 <= path.heading < 2 * np.pi


def test_paths_differ_and_exclude_the_given_ones(houses):
    first = draw_paths(houses[0], 30, np.random.default_rng(0))
    taken = [path.nodes for path in first]
    assert len(set(taken)) == len(taken) == 30
    second = draw_paths(houses[0], 30, np.random.default_rng(0), without=taken)
    assert not {path.nodes for path in second} & set(taken)


def test_no_path_is_left_when_all_are_excluded(houses):
    all_of_them = [path.nodes for path in draw_paths(houses[0], 5000, np.random.default_rng(0))]
    assert 300 < len(all_of_them) < 5000
    assert draw_paths(houses[0], 8, np.random.default_rng(0), without=all_of_them) == []


def test_most_paths_leave_their_room(houses):
    paths = [(h, p) for h in houses for p in draw_paths(h, 30, np.random.default_rng(0))]
    leaving = [len({house.rooms[node] for node in path.nodes}) > 1 for house, path in paths]
    assert np.mean(leaving) > 0.9


def test_many_paths_start_where_others_end(houses):
    for house in houses:
        paths = draw_paths(house, 60, np.random.default_rng(0))
        joins = np.array([[p.nodes[-1] == q.nodes[0] for q in paths] for p in paths], dtype=int)
        assert 30 < np.linalg.matrix_power(joins, 3).sum() < 2000


def test_start_headings_vary(houses):
    turns = []
    for house in houses:
        for path in draw_paths(house, 30, np.random.default_rng(0)):
            step = house.positions[path.nodes[1]] - house.positions[path.nodes[0]]
            turns.append((np.arctan2(step[0], step[1]) - path.heading + np.pi) % (2 * np.pi) - np.pi)
    assert 0.3 < np.mean(np.abs(turns) < np.radians(30)) < 0.8
    assert np.mean(np.abs(turns) > np.radians(120)) > 0.08
