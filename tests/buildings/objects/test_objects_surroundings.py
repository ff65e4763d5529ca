"""Rooms and openness: hand-computed values in small houses."""

from __future__ import annotations

import numpy as np
import pytest
from scenes import EAST, NORTH, SOUTH, WEST, entries, house

from babywalk.buildings.houses import Houses
from babywalk.buildings.objects.openness import openness_part, straight_walks
from babywalk.buildings.objects.rooms import room_part
from babywalk.common.errors import DataError


def test_a_room_fills_all_views_of_those_who_stand_in_it() -> None:
    houses = Houses.of([house([(0, 0, 0), (1, 0, 0)])])
    rooms = room_part(houses, {("home", "0"): 12, ("elsewhere", "1"): 3})
    assert entries(rooms, "room 12") == {(0, view): 1.0 for view in range(36)}
    assert np.count_nonzero(rooms.values) == 36
    assert rooms.columns[12] == "sees room 1"


def test_a_room_in_sight_is_entered_where_it_lies_and_the_nearest_counts() -> None:
    houses = Houses.of(
        [house([(0, 0, 0), (0, 2.5, 0), (0, 5, 0), (5, 0, 0), (-5, 0, 0)], sights=[(0, 1), (0, 2), (0, 3)])]
    )
    classes = {("home", "1"): 4, ("home", "2"): 4, ("home", "4"): 4, ("home", "3"): 7}
    rooms = room_part(houses, classes)
    seen = entries(rooms, "sees room 4")
    assert {view: value for (viewpoint, view), value in seen.items() if viewpoint == 0} == {
        NORTH: pytest.approx(np.exp(-0.5), rel=1e-3)
    }
    assert entries(rooms, "sees room 7") == {(0, EAST): pytest.approx(np.exp(-1), rel=1e-3)}


def test_a_class_beyond_the_last_is_refused() -> None:
    with pytest.raises(DataError, match="'0' of house 'home' has room class -1; expected a number from 1"):
        room_part(Houses.of([house([(0, 0, 0)])]), {("home", "0"): -1})


@pytest.fixture
def stairwell() -> Houses:
    """North of 0 a corridor 0-1-2 that turns east to 3; east of 0 a stair of 45 degrees up to 4."""
    return Houses.of(
        [
            house([(9, 9, 0), (9, 8, 0)], edges=[(0, 1)], scan="before"),
            house(
                [(0, 0, 1.5), (0, 2, 1.5), (0, 5, 1.5), (2, 5, 1.5), (3, 0, 4.5)],
                edges=[(0, 1), (1, 2), (2, 3), (0, 4)],
                sights=[(0, 1), (0, 3)],
            ),
        ]
    )


def of_start(entered: dict[tuple[int, int], float]) -> dict[int, float]:
    """The entries of viewpoint 0 of the stairwell, by view."""
    return {view: value for (viewpoint, view), value in entered.items() if viewpoint == 2}


def test_neighbours_are_entered_in_their_views(stairwell: Houses) -> None:
    openness = openness_part(stairwell)
    upstairs = 24 + 3
    stair = np.sqrt(3**2 + 3**2)
    assert of_start(entries(openness, "walk")) == {NORTH: 1.0, upstairs: 1.0}
    assert of_start(entries(openness, "next")) == {
        NORTH: pytest.approx(0.2, rel=1e-3),
        upstairs: pytest.approx(stair / 10, rel=1e-3),
    }
    assert of_start(entries(openness, "up")) == {upstairs: pytest.approx(np.sqrt(0.5), rel=1e-3)}
    assert entries(openness, "down") == {
        (6, 9): pytest.approx(np.sqrt(0.5), rel=1e-3)
    }  # from 4, west and down


def test_the_nearest_of_several_neighbours_in_a_view_counts() -> None:
    houses = Houses.of([house([(0, 0, 0), (0, 4, 0), (0.1, 3, 0)], edges=[(0, 1), (0, 2)])])
    assert entries(openness_part(houses), "next")[0, NORTH] == pytest.approx(0.3, rel=1e-2)


def test_one_walks_straight_until_the_sector_ends(stairwell: Houses) -> None:
    straight = of_start(entries(openness_part(stairwell), "straight"))
    north = {view: pytest.approx(0.5, rel=1e-3) for view in (0, NORTH, 24)}
    east = {view: pytest.approx(np.sqrt(18) / 10, rel=1e-3) for view in (3, EAST, 27)}
    assert straight == north | east
    # From 3 one goes west to 2 and no further: 1, 0 and 4 lie in other sectors.
    start, end = straight_walks(stairwell)
    assert end[start == 5].tolist() == [4]


def test_one_sees_as_far_as_the_farthest_visible_viewpoint(stairwell: Houses) -> None:
    sight = entries(openness_part(stairwell), "sight")
    assert of_start(sight) == {
        **{view: pytest.approx(0.2, rel=1e-3) for view in (0, NORTH, 24)},
        **{view: pytest.approx(np.sqrt(29) / 10, rel=1e-3) for view in (1, 13, 25)},  # 21.8 degrees
    }


def test_distances_count_up_to_ten_metres() -> None:
    houses = Houses.of([house([(0, 0, 0), (0, 25, 0)], edges=[(0, 1)], sights=[(0, 1)])])
    openness = openness_part(houses)
    assert entries(openness, "next") == {(0, NORTH): 1.0, (1, SOUTH): 1.0}
    assert entries(openness, "straight")[0, NORTH] == entries(openness, "sight")[0, NORTH] == 1.0


def test_a_lonely_viewpoint_is_closed() -> None:
    assert not openness_part(Houses.of([house([(0, 0, 0)])])).values.any()


def test_walks_in_a_ring_end() -> None:
    ring = house([(0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0)], edges=[(0, 1), (1, 2), (2, 3), (3, 0)])
    openness = openness_part(Houses.of([ring]))
    assert entries(openness, "walk").keys() >= {(0, NORTH), (0, EAST), (2, WEST), (2, SOUTH)}
    assert max(entries(openness, "straight").values()) == pytest.approx(0.1, rel=1e-3)
