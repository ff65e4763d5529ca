from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from babywalk.navigation.arrays import Array
from babywalk.navigation.trajectories import Trajectories, TrajectoryRecorder
from babywalk.navigation.world import Poses


def as_tensor(array: NDArray[np.int64]) -> Array:
    return pytest.importorskip("torch").as_tensor(array)


LIBRARIES = pytest.mark.parametrize("array", [np.asarray, as_tensor], ids=["numpy", "torch"])


def poses(array: Callable[[Array], Array], viewpoint: list[int], view: list[int]) -> Poses:
    return Poses(array(np.array(viewpoint, dtype=np.int64)), array(np.array(view, dtype=np.int64)))


def rows(trajectories: Trajectories) -> list[list[tuple[int, int]]]:
    """(viewpoint, view) of each pose of each walker."""
    return [
        list(zip(trajectories.viewpoints[row].tolist(), trajectories.views[row].tolist(), strict=True))
        for row in range(len(trajectories))
    ]


@LIBRARIES
def test_only_walkers_that_moved_are_recorded(array: Callable[[Array], Array]) -> None:
    recorder = TrajectoryRecorder(poses(array, [5, 6], [12, 13]))
    recorder.record(poses(array, [7, 6], [14, 13]), array(np.array([True, False])))
    recorder.record(poses(array, [8, 9], [15, 16]), array(np.array([True, True])))
    assert rows(recorder.trajectories()) == [[(5, 12), (7, 14), (8, 15)], [(6, 13), (9, 16)]]


@LIBRARIES
def test_some_walkers_can_be_recorded_in_any_order(array: Callable[[Array], Array]) -> None:
    recorder = TrajectoryRecorder(poses(array, [1, 2, 3], [0, 0, 0]))
    recorder.record(
        poses(array, [30, 10], [3, 1]), array(np.array([True, True])), walkers=array(np.array([2, 0]))
    )
    recorder.record(poses(array, [31], [4]), array(np.array([True])), walkers=array(np.array([2])))
    found = recorder.trajectories()
    assert rows(found) == [[(1, 0), (10, 1)], [(2, 0)], [(3, 0), (30, 3), (31, 4)]]
    assert found.viewpoints.values.dtype == found.views.values.dtype == np.int32


@LIBRARIES
def test_a_walker_can_be_restarted_while_others_continue(array: Callable[[Array], Array]) -> None:
    recorder = TrajectoryRecorder(poses(array, [1, 2], [0, 0]))
    recorder.record(poses(array, [3, 4], [1, 1]), array(np.array([True, True])))
    recorder.restart(array(np.array([0])), poses(array, [9], [5]))
    recorder.record(poses(array, [8, 7], [2, 2]), array(np.array([True, True])))
    assert rows(recorder.trajectories()) == [[(9, 5), (8, 2)], [(2, 0), (4, 1), (7, 2)]]
    assert rows(recorder.trajectories(array(np.array([1])))) == [[(2, 0), (4, 1), (7, 2)]]


@LIBRARIES
def test_no_walkers_have_no_trajectories(array: Callable[[Array], Array]) -> None:
    recorder = TrajectoryRecorder(poses(array, [], []))
    recorder.record(poses(array, [], []), array(np.zeros(0, dtype=bool)))
    assert len(recorder.trajectories()) == 0


@given(st.lists(st.dictionaries(st.integers(0, 3), st.booleans()), max_size=12), st.integers(1, 4))
def test_trajectories_equal_a_loop_over_walkers(steps: list[dict[int, bool]], capacity: int) -> None:
    """Also where more memory has to be allocated; the viewpoint is the number of the step."""
    recorder = TrajectoryRecorder(Poses(np.zeros(4, dtype=np.int64), np.arange(4)), capacity=capacity)
    expected = [[0] for _ in range(4)]
    for number, step in enumerate(steps, start=1):
        walkers = np.array(list(step), dtype=np.int64)
        moved = np.array(list(step.values()), dtype=bool)
        recorder.record(Poses(np.full(len(walkers), number), walkers), moved, walkers)
        for walker, has_moved in step.items():
            expected[walker] += [number] * has_moved
    found = recorder.trajectories()
    assert [found.viewpoints[row].tolist() for row in range(4)] == expected
    assert [set(found.views[row].tolist()) for row in range(4)] == [{0}, {1}, {2}, {3}]
