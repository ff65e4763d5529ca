from __future__ import annotations

import numpy as np
import pytest
from builders import connectivity, corridor
from hypothesis import given
from hypothesis import strategies as st

from babywalk.buildings.houses import Houses
from babywalk.navigation.world import STOP, Poses, World, angles, poses_at


@pytest.fixture
def houses() -> Houses:
    """A corridor along +y, and a crossing: 3 in the middle, 4 east, 5 south, 6 north and above."""
    crossing = connectivity(
        "crossing", [(0, 0, 0), (2, 0, 0), (0, -2, 0), (0, 2, 2)], [(0, 1), (0, 2), (0, 3)]
    )
    return Houses.of([corridor("a", 3), crossing])


@pytest.fixture
def world(houses: Houses) -> World:
    return World.of(houses)


def test_actions_lead_to_neighbours_and_stop_stays(world: World) -> None:
    assert world.actions == 4
    assert world.target.tolist()[3] == [3, 4, 5, 6]
    assert world.target.tolist()[0] == [0, 1, 0, 0]
    assert world.possible.tolist()[0] == [True, True, False, False]
    assert world.possible.all(axis=1).tolist() == [False, False, False, True, False, False, False]


def test_after_a_move_a_walker_faces_the_direction_of_the_move(world: World) -> None:
    start = poses_at([3, 3, 3, 3], [0, 0, 0, np.pi])
    after = world.step(start, np.array([1, 2, 3, STOP]))
    assert after.viewpoint.tolist() == [4, 5, 6, 3]
    # East is column 3, south column 6, both level (row 1); 45 degrees up is nearest to row 2.
    assert after.view.tolist() == [12 + 3, 12 + 6, 24 + 0, 12 + 6]
    heading, elevation = angles(after.view)
    assert np.degrees(heading) == pytest.approx([90, 180, 0, 180])
    assert np.degrees(elevation) == pytest.approx([0, 0, 30, 0])


def test_step_does_not_change_its_input(world: World) -> None:
    start = poses_at([3], [0.0])
    world.step(start, np.array([1]))
    assert (start.viewpoint.tolist(), start.view.tolist()) == ([3], [12])


def test_an_impossible_action_changes_nothing(world: World) -> None:
    after = world.step(poses_at([0], [0.0]), np.array([3]))
    assert (after.viewpoint.tolist(), after.view.tolist()) == ([0], [12])


@pytest.mark.parametrize(
    ("degrees", "column"), [(0, 0), (14, 0), (16, 1), (359, 0), (345.1, 0), (-30, 11), (725, 0)]
)
def test_headings_are_rounded_to_the_nearest_view(degrees: float, column: int) -> None:
    assert poses_at([0], [np.radians(degrees)]).view.tolist() == [12 + column]


def test_directions_are_relative_to_the_heading_but_not_to_the_elevation(world: World) -> None:
    facing_east = Poses(np.array([3]), np.array([24 + 3]))  # facing up, which has no effect
    found = world.directions(facing_east)[0]
    assert found[STOP].tolist() == [0, 0, 0, 0]
    assert found[1] == pytest.approx([0, 1, 0, 1], abs=1e-6)  # east is straight ahead
    assert found[2] == pytest.approx([1, 0, 0, 1], abs=1e-6)  # south is to the right
    assert found[3] == pytest.approx([-1, 0, np.sqrt(0.5), np.sqrt(0.5)], abs=1e-6)  # north: left


@given(st.integers(0, 6), st.lists(st.integers(0, 3), max_size=20), st.floats(0, 6.28))
def test_every_move_is_along_an_edge_of_the_house(start: int, actions: list[int], heading: float) -> None:
    houses = Houses.of([corridor("a", 3), corridor("b", 4)])
    world = World.of(houses)
    poses = poses_at([start], [heading])
    for action in actions:
        if action >= world.actions or not world.possible[poses.viewpoint[0], action]:
            continue
        after = world.step(poses, np.array([action]))
        moved = after.viewpoint[0] != poses.viewpoint[0]
        assert moved == (action != STOP)
        assert houses.adjacent(poses.viewpoint, after.viewpoint)[0] == moved
        poses = after


def test_torch_steps_equal_numpy_steps(world: World) -> None:
    torch = pytest.importorskip("torch")
    other = world.to("cpu")
    start = poses_at([3, 3, 0, 6], [0.1, 3, 5, 2])
    tensors = start.to("cpu")
    actions = np.array([1, 0, 1, 1])
    one, two = world.step(start, actions), other.step(tensors, torch.as_tensor(actions))
    assert (one.viewpoint.tolist(), one.view.tolist()) == (two.viewpoint.tolist(), two.view.tolist())
    assert world.directions(one) == pytest.approx(other.directions(two).numpy())
