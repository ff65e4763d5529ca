"""Batches of episodes in a small house."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from square import square_batches, square_task

from babywalk.common.ragged import Ragged
from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.navigation.world import STOP, Poses


@pytest.fixture
def batches() -> EpisodeBatches:
    return square_batches(square_task())


def words(batches: EpisodeBatches, rows: Ragged) -> list[str]:
    return [" ".join(batches.vocabulary.words[number] for number in rows[row]) for row in range(len(rows))]


def test_a_batch_has_remaining_steps_and_the_expert_s_history(batches: EpisodeBatches) -> None:
    batch = batches.batch(np.array([0, 1]), np.array([2, 0]), np.array([3, 1]))
    assert words(batches, batch.instructions) == ["stop here .", "walk on now"]  # at most three words
    assert words(batches, batch.past_instructions) == ["go north .", "then east ."]
    assert batch.first_past.tolist() == [0, 2, 2]
    assert batch.goals is not None
    assert batch.goals.tolist() == [4, 2]
    assert batch.expert_paths is not None
    assert [batch.expert_paths[row].tolist() for row in range(2)] == [[2, 4], [3, 2]]
    # Episode 0 is at 2, level, facing east after its last move; episode 1 at its start with heading 0.5.
    assert batch.start.viewpoint.tolist() == [2, 3]
    assert batch.start.view.tolist() == [12 + 3, 12 + 1]
    # History: 0 -> 1 and STOP; 1 -> 2 and STOP. Facing 0.5 at the start, then north, then east.
    assert batch.past.poses.viewpoint.tolist() == [0, 1, 1, 2]
    assert batch.past.poses.view.tolist() == [13, 12, 12, 15]
    actions = batch.past.actions.tolist()
    assert actions[1] == actions[3] == STOP
    assert batches.world.target[0, actions[0]] == 1
    assert batches.world.target[1, actions[2]] == 2
    assert batch.past.start.tolist() == [0, 2, 4]


def test_a_step_starts_level_after_stairs(batches: EpisodeBatches) -> None:
    steps = replace(batches.steps, sentences=Ragged.of([[1, 2], [1]]), ends=Ragged.of([[3, 3], [1]]))
    batch = replace(batches, steps=steps).batch(np.array([0]), np.array([1]), np.array([2]))
    assert batch.start.viewpoint.tolist() == [4]
    assert batch.start.view.tolist() == [12]  # north, and not upwards
    assert batch.past.poses.view.tolist() == [13, 12, 15, 24]  # upwards within the step
    assert batch.goals is not None
    assert batch.goals.tolist() == [4]


def test_prefix_excludes_the_viewpoint_where_the_step_starts(batches: EpisodeBatches) -> None:
    found = batches.prefix(np.array([0, 0, 1]), np.array([0, 2, 0]))
    assert [found[row].tolist() for row in range(3)] == [[], [0, 1], []]


def test_walks_that_differ_in_pose_action_or_length_are_distinct(batches: EpisodeBatches) -> None:
    past = batches.batch(np.array([0, 0]), np.array([2, 1]), np.array([3, 2])).past
    distinct, which = past.distinct()
    assert which.tolist() == [0, 1, 0]
    assert distinct.poses.viewpoint.tolist() == [0, 1, 1, 2]
    assert distinct.poses.view.tolist() == [13, 12, 12, 15]
    assert distinct.actions.tolist() == past.actions[:4].tolist()
    assert distinct.start.tolist() == [0, 2, 4]
    turned = past.poses.view.copy()
    turned[4] += 1  # the same viewpoint, facing another view
    assert replace(past, poses=Poses(past.poses.viewpoint, turned)).distinct()[1].tolist() == [0, 1, 2]
    stopped = past.actions.copy()
    stopped[4] = STOP
    assert replace(past, actions=stopped).distinct()[1].tolist() == [0, 1, 2]
    assert replace(past, start=np.array([0, 2, 4, 5])).distinct()[1].tolist() == [0, 1, 2]
