"""The parts of object features, against values computed by hand in small houses."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from scenes import EAST, NORTH, SOUTH, WEST, around, entries, house, part, thing

from babywalk.assets.boxes import Box, ViewpointObjects
from babywalk.buildings.houses import Houses
from babywalk.buildings.objects.build import object_parts
from babywalk.buildings.objects.labels import GROUPS
from babywalk.buildings.objects.parts import Part, openness_part, room_part, straight_walks
from babywalk.common.errors import ConfigError, DataError

TENTH: Box = (0, 0, 64, 48)  # a tenth of the view's width and height: a hundredth of its area
WHOLE: Box = (0, 0, 640, 480)
MIDDLE: Box = (300, 220, 40, 40)
CATEGORIES = {"dining chairs": "chair", "chair": "chair", "smudge": "void"}


def parts_of(
    houses: Houses, *seen: ViewpointObjects, categories: Mapping[str, str] | None = None, names: int = 200
) -> list[Part]:
    return object_parts(
        houses, seen, categories=categories, rooms=None, vocabulary_scans={"home"}, names=names
    )


def test_an_object_is_in_the_columns_of_its_words_and_group() -> None:
    houses = Houses.of([house([(0, 0, 0), (9, 9, 0)])])
    parts = parts_of(houses, around(1, thing("dining chairs", {3: TENTH, 14: WHOLE})), categories=CATEGORIES)
    names, groups = part(parts, "names"), part(parts, "groups")
    expected = {(1, 3): pytest.approx(0.1, rel=1e-3), (1, 14): 1.0}
    assert names.columns == ("chair", "dining")
    assert groups.columns == tuple(f"group {group}" for group in GROUPS)
    assert entries(names, "chair") == expected
    assert entries(names, "dining") == expected
    assert entries(groups, "group chair") == expected
    assert np.count_nonzero(groups.values) == 2
    assert names.values.dtype == np.float16
    assert names.values.shape == (2, 36, 2)


def test_areas_add_up_to_at_most_the_whole_view() -> None:
    things = [thing("chair", {0: TENTH, 1: WHOLE}, str(number)) for number in range(4)]
    names = part(parts_of(Houses.of([house([(0, 0, 0)])]), around(0, *things)), "names")
    assert entries(names, "chair") == {(0, 0): pytest.approx(0.2, rel=1e-3), (0, 1): 1.0}


def test_an_unknown_name_or_class_is_in_no_group() -> None:
    things = [thing("smudge", {0: TENTH}, "1"), thing("gizmo", {0: TENTH}, "2")]
    parts = parts_of(Houses.of([house([(0, 0, 0)])]), around(0, *things), categories=CATEGORIES)
    assert not part(parts, "groups").values.any()


def test_words_are_from_the_vocabulary_houses_only() -> None:
    houses = Houses.of([house([(0, 0, 0)]), house([(0, 0, 0)], scan="unseen")])
    seen = [
        around(0, thing("sofa", {0: TENTH}, "1"), thing("lamp", {0: TENTH}, "2")),
        around(0, *(thing("red lamp", {5: TENTH}, str(number)) for number in range(3)), scan="unseen"),
    ]
    names = part(parts_of(houses, *seen), "names")
    assert names.columns == ("lamp", "sofa")
    assert set(entries(names, "lamp")) == {(0, 0), (1, 5)}
    assert part(parts_of(houses, *seen, names=1), "names").columns == ("lamp",)


def test_a_distant_object_is_in_its_direction_and_shrinks_with_distance() -> None:
    # A chair 1.6 m north of viewpoint 0, on its level.
    houses = Houses.of([house([(0, 0, 1.5), (0, -4, 1.5), (4, 1.6, 1.5)], visible_pairs=[(0, 1), (0, 2)])])
    parts = parts_of(houses, around(0, thing("chair", {NORTH: MIDDLE})), categories=CATEGORIES)
    far = part(parts, "distant")
    side = np.sqrt(40 * 40 / (640 * 480))
    expected = {
        (1, NORTH): pytest.approx(side * 1.6 / 5.6, rel=1e-3),
        (2, WEST): pytest.approx(side * 1.6 / 4, rel=1e-3),
    }
    assert far.columns == ("far chair", *(f"far group {group}" for group in GROUPS))
    assert entries(far, "far chair") == expected
    assert entries(far, "far group chair") == expected


def test_distant_objects_are_visible_not_occluded_and_within_12_metres() -> None:
    houses = Houses.of(
        [
            house(
                [
                    (0, 0, 1.5),  # boxes the object, which is placed at (0, 1.6, 1.5)
                    (3, 1.6, 1.5),  # has no line of sight
                    (1.5, 1.6, 1.5),  # sees viewpoint 0, but is as near and has no box: occluded
                    (0, -10.5, 1.5),  # 12.1 m away
                    (0, -10.3, 1.5),  # 11.9 m away
                ],
                visible_pairs=[(0, 2), (0, 3), (0, 4), (1, 2)],
            )
        ]
    )
    far = part(parts_of(houses, around(0, thing("chair", {NORTH: MIDDLE}))), "distant")
    assert set(entries(far, "far chair")) == {(4, NORTH)}


def test_a_viewpoint_with_a_box_has_no_distant_entry() -> None:
    houses = Houses.of(
        [house([(0, 0, 1.5), (-3.2, 1.6, 1.5), (5, 1.6, 1.5)], visible_pairs=[(0, 1), (1, 2)])]
    )
    chair = [around(0, thing("chair", {NORTH: MIDDLE})), around(1, thing("chair", {EAST: MIDDLE}))]
    far = part(parts_of(houses, *chair), "distant")
    assert set(entries(far, "far chair")) == {(2, WEST)}


def test_parts_can_be_left_out() -> None:
    houses = Houses.of([house([(0, 0, 0)])])
    seen = [around(0, thing("chair", {0: TENTH}))]
    assert [some.name for some in parts_of(houses, *seen)] == ["names", "distant", "openness"]
    assert [some.name for some in parts_of(houses, *seen, names=0)] == ["openness"]
    assert [some.name for some in parts_of(houses)] == ["openness"]
    rooms = {("home", "0"): 1}
    everything = object_parts(
        houses, seen, categories=CATEGORIES, rooms=rooms, vocabulary_scans={"home"}, names=5
    )
    assert [some.name for some in everything] == ["names", "groups", "distant", "rooms", "openness"]


def test_a_negative_number_of_words_is_rejected() -> None:
    with pytest.raises(ConfigError, match="names = -1 is out of range"):
        parts_of(Houses.of([house([(0, 0, 0)])]), names=-1)


def test_a_room_class_is_in_all_views_of_its_viewpoints() -> None:
    houses = Houses.of([house([(0, 0, 0), (1, 0, 0)])])
    rooms = room_part(houses, {("home", "0"): 12, ("elsewhere", "1"): 3})
    assert entries(rooms, "room 12") == {(0, view): 1.0 for view in range(36)}
    assert np.count_nonzero(rooms.values) == 36
    assert rooms.columns[12] == "sees room 1"


def test_a_visible_room_is_in_its_direction_and_the_nearest_counts() -> None:
    houses = Houses.of(
        [
            house(
                [(0, 0, 0), (0, 2.5, 0), (0, 5, 0), (5, 0, 0), (-5, 0, 0)],
                visible_pairs=[(0, 1), (0, 2), (0, 3)],
            )
        ]
    )
    classes = {("home", "1"): 4, ("home", "2"): 4, ("home", "4"): 4, ("home", "3"): 7}
    rooms = room_part(houses, classes)
    seen = entries(rooms, "sees room 4")
    assert {view: value for (viewpoint, view), value in seen.items() if viewpoint == 0} == {
        NORTH: pytest.approx(np.exp(-0.5), rel=1e-3)
    }
    assert entries(rooms, "sees room 7") == {(0, EAST): pytest.approx(np.exp(-1), rel=1e-3)}


def test_a_negative_class_is_rejected() -> None:
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
                visible_pairs=[(0, 1), (0, 3)],
            ),
        ]
    )


def of_start(entered: dict[tuple[int, int], float]) -> dict[int, float]:
    """The entries of viewpoint 0 of the stairwell, by view."""
    return {view: value for (viewpoint, view), value in entered.items() if viewpoint == 2}


def test_neighbours_are_in_their_views(stairwell: Houses) -> None:
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


def test_straight_walks_stay_in_their_sector(stairwell: Houses) -> None:
    straight = of_start(entries(openness_part(stairwell), "straight"))
    north = {view: pytest.approx(0.5, rel=1e-3) for view in (0, NORTH, 24)}
    east = {view: pytest.approx(np.sqrt(18) / 10, rel=1e-3) for view in (3, EAST, 27)}
    assert straight == north | east
    # From 3 one goes west to 2 and no further: 1, 0 and 4 lie in other sectors.
    start, end = straight_walks(stairwell)
    assert end[start == 5].tolist() == [4]


def test_sight_is_the_distance_of_the_farthest_visible_viewpoint(stairwell: Houses) -> None:
    sight = entries(openness_part(stairwell), "sight")
    assert of_start(sight) == {
        **{view: pytest.approx(0.2, rel=1e-3) for view in (0, NORTH, 24)},
        **{view: pytest.approx(np.sqrt(29) / 10, rel=1e-3) for view in (1, 13, 25)},  # 21.8 degrees
    }


def test_distances_are_clipped_at_ten_metres() -> None:
    houses = Houses.of([house([(0, 0, 0), (0, 25, 0)], edges=[(0, 1)], visible_pairs=[(0, 1)])])
    openness = openness_part(houses)
    assert entries(openness, "next") == {(0, NORTH): 1.0, (1, SOUTH): 1.0}
    assert entries(openness, "straight")[0, NORTH] == entries(openness, "sight")[0, NORTH] == 1.0


def test_an_isolated_viewpoint_has_no_openness() -> None:
    assert not openness_part(Houses.of([house([(0, 0, 0)])])).values.any()


def test_straight_walks_terminate_in_a_ring() -> None:
    ring = house([(0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0)], edges=[(0, 1), (1, 2), (2, 3), (3, 0)])
    openness = openness_part(Houses.of([ring]))
    assert entries(openness, "walk").keys() >= {(0, NORTH), (0, EAST), (2, WEST), (2, SOUTH)}
    assert max(entries(openness, "straight").values()) == pytest.approx(0.1, rel=1e-3)
