"""Floor plan, furniture and the navigation graph."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from babywalk.assets.dollhouse import DollHouse, build_house
from babywalk.assets.dollhouse.floorplan import walls
from babywalk.assets.dollhouse.furniture import COLOURS, KIND_NAMES, MATERIALS, ROOMS
from babywalk.assets.dollhouse.geometry import corners, crossings, enters
from babywalk.assets.dollhouse.house import LANDING


def edges(house: DollHouse) -> np.ndarray:
    return np.argwhere(np.triu(house.unobstructed))


def test_there_are_many_kinds_of_rooms_and_furniture():
    assert len(ROOMS) >= 12
    assert len(KIND_NAMES) >= 40
    assert len(COLOURS) >= 8
    assert len(MATERIALS) >= 5
    assert len(set(KIND_NAMES)) == len(KIND_NAMES)


def test_houses_have_one_or_two_storeys_and_8_to_16_rooms(houses):
    assert {house.plan.storeys for house in houses} == {1, 2}
    for house in houses:
        kinds = [room.kind for room in house.plan.rooms]
        assert 8 <= len(kinds) - kinds.count("stairs") <= 16
        assert set(kinds) <= set(ROOMS)
        assert (house.plan.stairs is not None) == (house.plan.storeys == 2)


def test_rooms_of_a_storey_do_not_overlap(houses):
    for house in houses:
        for a, b in combinations(house.plan.rooms, 2):
            assert a.storey != b.storey or not a.rect.overlaps(b.rect)


def test_a_door_lies_on_the_wall_between_its_rooms(houses):
    for house in houses:
        for door in house.plan.doors:
            for room in door.rooms:
                rect = house.plan.rooms[room].rect
                x, y = door.centre
                assert rect.expanded(0.001).x0 <= x <= rect.expanded(0.001).x1
                assert rect.expanded(0.001).y0 <= y <= rect.expanded(0.001).y1
                assert x in (rect.x0, rect.x1) or y in (rect.y0, rect.y1)


def test_about_60_viewpoints(houses):
    counts = [len(house.viewpoints) for house in houses]
    assert 50 <= np.mean(counts) <= 70
    assert min(counts) >= 45


def test_the_graph_is_connected(houses):
    for house in houses:
        count, _ = connected_components(house.unobstructed)
        assert count == 1


def test_the_graph_is_symmetric_without_loops(houses):
    for house in houses:
        assert (house.unobstructed == house.unobstructed.T).all()
        assert not house.unobstructed.diagonal().any()


def test_neighbours_are_1_5_to_3_metres_apart(houses):
    lengths = np.concatenate(
        [
            np.linalg.norm(house.positions[edges(house)[:, 0]] - house.positions[edges(house)[:, 1]], axis=1)
            for house in houses
        ]
    )
    assert lengths.min() > 0.8
    assert lengths.max() < 3.7
    assert ((lengths >= 1.5) & (lengths <= 3.0)).mean() > 0.9


def test_node_degrees_are_realistic(houses):
    degrees = np.concatenate([house.unobstructed.sum(axis=0) for house in houses])
    assert degrees.min() >= 1
    assert degrees.max() <= 13
    assert 2.3 < degrees.mean() < 5


def test_no_edge_goes_through_a_wall_or_furniture(houses):
    for house in houses:
        for storey in range(house.plan.storeys):
            pairs = [(a, b) for a, b in edges(house) if house.levels[a] == house.levels[b] == storey]
            starts = house.positions[[a for a, _ in pairs], :2]
            ends = house.positions[[b for _, b in pairs], :2]
            assert not crossings(starts, ends, walls(house.plan, storey)).any()
            rects = corners(p.rect for p in house.furniture if p.storey == storey and p.blocks)
            assert not enters(starts, ends, rects).any()


def test_edges_between_storeys_use_the_stairs(houses):
    for house in houses:
        for a, b in edges(house):
            levels = {house.levels[a], house.levels[b]}
            assert len(levels) == 1 or LANDING in levels


def test_furniture_is_inside_its_room_and_does_not_overlap(houses):
    for house in houses:
        for piece in house.furniture:
            assert house.plan.rooms[piece.room].rect.contains(piece.rect)
        standing = [piece for piece in house.furniture if piece.blocks]
        for a, b in combinations(standing, 2):
            assert a.storey != b.storey or not a.rect.overlaps(b.rect)


def test_viewpoint_ids_are_unique_over_houses(houses):
    names = [name for house in houses for name in house.viewpoints]
    assert len(set(names)) == len(names)


def test_the_same_seed_gives_the_same_house_and_another_seed_another():
    first, again, other = build_house(3, 1), build_house(3, 1), build_house(4, 1)
    assert first.plan == again.plan
    assert first.furniture == again.furniture
    assert np.array_equal(first.positions, again.positions)
    assert first.plan != other.plan


@pytest.mark.parametrize("seed", range(5))
def test_every_seed_finds_a_house(seed):
    assert len(build_house(1000 + seed, seed).viewpoints) >= 45
