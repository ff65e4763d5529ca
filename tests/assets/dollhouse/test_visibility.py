"""Visibility and view features, against geometry computed by hand in a two-room house."""

from __future__ import annotations

import numpy as np
import pytest

from babywalk.assets.dollhouse.floorplan import Door, FloorPlan, Room
from babywalk.assets.dollhouse.furniture import KIND_BY_NAME, Furniture
from babywalk.assets.dollhouse.geometry import Rect, crossings, enters, ray_lengths, wrap_angle
from babywalk.assets.dollhouse.house import DollHouse
from babywalk.assets.dollhouse.rendering import COLUMNS, boxes_at, embed, semantics
from babywalk.assets.dollhouse.visibility import compute_visibility


def piece(name: str, room: int, rect: Rect, colour: str | None = None) -> Furniture:
    kind = KIND_BY_NAME[name]
    return Furniture(kind, colour, None, room, 0, rect, kind.above, kind.above + kind.size[2])


@pytest.fixture(scope="module")
def two_rooms() -> DollHouse:
    """A kitchen, a wall at y = 4 with a door at x = 2, and a bedroom behind it.

    Viewpoints: 0 in the kitchen, in line with the door; 1 in the bedroom.
    """
    plan = FloorPlan(
        rooms=(Room("kitchen", 0, Rect(0, 0, 4, 4)), Room("bedroom", 0, Rect(0, 4, 4, 8))),
        doors=(Door("door", 0, (0, 1), (1.5, 4.0, 2.5, 4.0), "red", None),),
        stairs=None,
    )
    furniture = (
        piece("fridge", 0, Rect(3.2, 1.6, 3.97, 2.4), "white"),  # due east of viewpoint 0
        piece("bed", 1, Rect(1.2, 5.9, 2.8, 7.9), "blue"),  # due north, seen through the door
        piece("couch", 1, Rect(0.03, 4.1, 1.0, 5.0), "green"),  # beside the door, behind the wall
    )
    return DollHouse(
        scan="two",
        plan=plan,
        furniture=furniture,
        viewpoints=("a", "b"),
        positions=np.array([[2.0, 2.0, 1.5], [2.0, 5.0, 1.5]]),
        rooms=(0, 1),
        levels=(0, 0),
        unobstructed=np.array([[False, True], [True, False]]),
    )


def value(vectors: np.ndarray, viewer: int, view: int, column: str) -> float:
    return float(vectors[viewer, view, COLUMNS.index(column)])


def test_furniture_is_in_the_view_that_points_at_it(two_rooms):
    vectors = semantics(two_rooms, compute_visibility(two_rooms))
    east, west, north = 12 + 3, 12 + 9, 12 + 0
    assert value(vectors, 0, east, "fridge") > 0.3
    assert value(vectors, 0, east, "white thing") > 0.3
    assert value(vectors, 0, west, "fridge") == 0
    assert value(vectors, 0, north, "fridge") == 0


def test_the_next_room_is_visible_through_the_door_only(two_rooms):
    visibility = compute_visibility(two_rooms)
    vectors = semantics(two_rooms, visibility)
    names = [thing.name for thing in visibility.things]
    assert visibility.visible_share[0, names.index("bed")] > 0
    assert visibility.visible_share[0, names.index("couch")] == 0
    assert visibility.visible_share[1, names.index("couch")] == 1
    assert value(vectors, 0, 12, "bed") > 0.1
    assert value(vectors, 0, 12, "blue soft") > 0.1
    assert vectors[0, :, COLUMNS.index("couch")].max() == 0


def test_a_door_shows_the_room_behind_it_from_both_sides(two_rooms):
    vectors = semantics(two_rooms, compute_visibility(two_rooms))
    north, south = 12 + 0, 12 + 6
    assert value(vectors, 0, north, "to bedroom") == value(vectors, 0, north, "door") > 0.3
    assert value(vectors, 0, north, "to kitchen") == 0
    assert value(vectors, 1, south, "to kitchen") > 0.3
    assert value(vectors, 0, north, "in kitchen") == value(vectors, 0, south, "in kitchen") > 0


def test_nearer_furniture_covers_more(two_rooms):
    vectors = semantics(two_rooms, compute_visibility(two_rooms))
    assert value(vectors, 1, 12, "bed") > value(vectors, 0, 12, "bed")


def test_openness_is_the_distance_to_the_wall(two_rooms):
    visibility = compute_visibility(two_rooms)
    assert visibility.openness[0, 18] == pytest.approx(2.0)  # east
    assert visibility.openness[0, 0] == pytest.approx(6.0)  # north, through the door


def test_viewpoints_see_each_other_through_the_door(two_rooms):
    assert compute_visibility(two_rooms).visible.tolist() == [[False, True], [True, False]]


def test_tall_furniture_occludes(two_rooms):
    hidden = piece("plant", 0, Rect(3.4, 2.42, 3.5, 2.5))
    screen = piece("wardrobe", 0, Rect(2.6, 1.9, 2.8, 2.8), "white")
    crowded = DollHouse(
        scan=two_rooms.scan,
        plan=two_rooms.plan,
        furniture=(hidden, screen),
        viewpoints=two_rooms.viewpoints,
        positions=two_rooms.positions,
        rooms=two_rooms.rooms,
        levels=two_rooms.levels,
        unobstructed=two_rooms.unobstructed,
    )
    visibility = compute_visibility(crowded)
    assert visibility.visible_share[0, 0] == 0
    assert visibility.visible_share[0, 1] == 1


def test_boxes_of_a_pinhole_camera(two_rooms):
    boxes = boxes_at(two_rooms, compute_visibility(two_rooms), 0)
    assert (boxes.scan, boxes.viewpoint) == ("two", "a")
    by_name = {item.name: item for item in boxes.objects}
    assert set(by_name) == {"fridge", "door"}  # the bed is further than 3 m
    fridge = by_name["fridge"]
    x, y, width, height = fridge.boxes[fridge.views.index(15)]
    # Front 1.2 m away, 0.8 m wide: 2 * 415.69 * 0.4 / 1.2 pixels about the middle.
    assert (x, width) == (181, 277)
    # Its top, 0.4 m above the eyes, at 1.2 m; its foot out of view.
    assert (y, y + height) == (101, 480)
    assert 21 not in fridge.views


def test_other_storeys_are_not_visible(landmarks_per_house):
    for landmarks in landmarks_per_house:
        visibility, house = landmarks.visibility, landmarks.house
        for viewer, level in enumerate(house.levels):
            others = [n for n, thing in enumerate(visibility.things) if thing.level != level]
            if level != 2:
                assert not visibility.visible_share[viewer, others].any()


def test_stairs_lead_up_below_and_down_above(landmarks_per_house):
    with_stairs = [landmarks for landmarks in landmarks_per_house if landmarks.house.plan.stairs]
    for landmarks in with_stairs:
        foot, head, landing = 0, 1, 2
        names = {
            viewer: {landmarks.names[t] for t in np.flatnonzero(landmarks.visibility.visible_share[viewer])}
            for viewer in (foot, head, landing)
        }
        assert "stairs up" in names[foot]
        assert "stairs down" not in names[foot]
        assert "stairs down" in names[head]
        assert {"stairs up", "stairs down"} <= names[landing]


def test_the_random_matrix_is_fixed_and_the_noise_is_not():
    vectors = np.eye(len(COLUMNS))[None]
    one = embed(vectors, width=32, noise=0.0, rng=np.random.default_rng(1))
    two = embed(vectors, width=32, noise=0.0, rng=np.random.default_rng(2))
    noisy = embed(vectors, width=32, noise=0.1, rng=np.random.default_rng(2))
    assert one.dtype == np.float32
    assert np.array_equal(one, two)
    assert 0.05 < (noisy - two).std() < 0.15


def test_a_linear_probe_generalises_to_other_houses(landmarks_per_house):
    """Doors, rooms, stairs and furniture can be predicted from the features of other houses."""
    truth = [
        semantics(landmarks.house, landmarks.visibility).reshape(-1, len(COLUMNS))
        for landmarks in landmarks_per_house
    ]
    views = [
        embed(vectors, width=64, noise=0.1, rng=np.random.default_rng(n)) for n, vectors in enumerate(truth)
    ]
    train_x, test_x = np.concatenate(views[:6]), np.concatenate(views[6:])
    train_y, test_y = np.concatenate(truth[:6]), np.concatenate(truth[6:])
    probe = np.linalg.lstsq(np.column_stack([train_x, np.ones(len(train_x))]), train_y, rcond=None)[0]
    guess = np.column_stack([test_x, np.ones(len(test_x))]) @ probe
    for column in ("door", "archway", "in bedroom", "in hallway", "to hallway", "bed"):
        number = COLUMNS.index(column)
        assert np.corrcoef(guess[:, number], test_y[:, number])[0, 1] > 0.6, column
    in_room = [COLUMNS.index(c) for c in COLUMNS if c.startswith("in ")]
    right = guess[:, in_room].argmax(axis=1) == test_y[:, in_room].argmax(axis=1)
    assert right.mean() > 0.5  # chance is 1 in 15


def test_segments_walls_and_rays():
    wall = np.array([[0.0, 1.0, 2.0, 1.0]])
    starts = np.array([[1.0, 0.0], [3.0, 0.0], [1.0, 0.0]])
    ends = np.array([[1.0, 2.0], [3.0, 2.0], [1.0, 1.0]])
    assert crossings(starts, ends, wall)[:, 0].tolist() == [True, False, False]
    assert enters(starts, ends, np.array([[0.5, 0.5, 1.5, 0.8]]))[:, 0].tolist() == [True, False, True]
    assert ray_lengths(starts[:1], np.array([[0.0, 1.0], [0.0, -1.0]]), wall, 9.0).tolist() == [[1.0, 9.0]]
    assert wrap_angle(np.radians(270)) == pytest.approx(np.radians(-90))
