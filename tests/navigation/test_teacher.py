from __future__ import annotations

import numpy as np
import pytest
from builders import connectivity, corridor
from hypothesis import given
from hypothesis import strategies as st

from babywalk.buildings.houses import Houses
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.world import STOP, World, poses_at


@pytest.fixture(scope="module")
def houses() -> Houses:
    ring = connectivity(
        "ring", [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (9, 9, 9)], [(0, 1), (1, 2), (2, 3), (3, 0)]
    )
    return Houses.of([corridor("a", 5), ring])


@given(start=st.integers(0, 8), goal=st.integers(0, 8))
def test_the_teacher_takes_the_shortest_path(houses: Houses, start: int, goal: int) -> None:
    if houses.house_of[start] != houses.house_of[goal]:
        return
    world, teacher = World.of(houses), Teacher.of(houses)
    poses, goals, walked = poses_at([start], [0.0]), np.array([goal]), 0.0
    while (action := teacher.towards(poses.viewpoint, goals))[0] != STOP:
        after = world.step(poses, action)
        walked += houses.distance(poses.viewpoint, after.viewpoint)[0]
        poses = after
    assert poses.viewpoint[0] == goal
    assert walked == pytest.approx(houses.distance(np.array(start), goals)[0])


def test_the_action_towards_an_unreachable_goal_is_stop(houses: Houses) -> None:
    assert Teacher.of(houses).towards(np.array([5]), np.array([9])).tolist() == [STOP]


def test_a_path_is_followed_viewpoint_by_viewpoint(houses: Houses) -> None:
    """A path that returns: the goal is next to the start, but the whole path is walked."""
    world, teacher = World.of(houses), Teacher.of(houses)
    paths = np.array([[0, 1, 2, 3, 2, 1], [4, 3, -1, -1, -1, -1]])
    lengths, reached = np.array([6, 2]), np.zeros(2, dtype=np.int64)
    poses, seen = poses_at(paths[:, 0], np.zeros(2)), []
    for _ in range(6):
        seen.append(poses.viewpoint.tolist())
        action, reached = teacher.along(poses.viewpoint, paths, lengths, reached)
        poses = world.step(poses, action)
    assert [row[0] for row in seen] == [0, 1, 2, 3, 2, 1]
    assert [row[1] for row in seen] == [4, 3, 3, 3, 3, 3]
    assert action.tolist() == [STOP, STOP]


def test_off_the_path_the_teacher_leads_to_the_next_viewpoint_of_the_path(houses: Houses) -> None:
    world, teacher = World.of(houses), Teacher.of(houses)
    paths, lengths = np.array([[1, 2, 3]]), np.array([3])
    off_path = poses_at([0], [0.0])  # walked back from 1 to 0
    action, reached = teacher.along(off_path.viewpoint, paths, lengths, np.array([0]))
    assert world.step(off_path, action).viewpoint.tolist() == [1]
    assert reached.tolist() == [0]


def test_torch_actions_equal_numpy_actions(houses: Houses) -> None:
    torch = pytest.importorskip("torch")
    teacher = Teacher.of(houses)
    other = teacher.to("cpu")
    at, goals = np.array([0, 4, 5, 6]), np.array([3, 4, 7, 8])
    expected = teacher.towards(at, goals)
    assert other.towards(torch.as_tensor(at), torch.as_tensor(goals)).tolist() == expected.tolist()
    paths, lengths, reached = np.array([[0, 1, 2], [4, 3, 3]]), np.array([3, 2]), np.array([0, 0])
    one = teacher.along(np.array([1, 4]), paths, lengths, reached)
    two = other.along(*(torch.as_tensor(x) for x in (np.array([1, 4]), paths, lengths, reached)))
    assert [x.tolist() for x in one] == [x.tolist() for x in two]
