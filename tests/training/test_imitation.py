"""Which steps are in a batch of imitation, and what a progress monitor learns."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from square import follow_teacher, square_batches, square_model, square_observer, square_task

from babywalk.decoding.rollout import Rollout
from babywalk.navigation.teacher import Teacher
from babywalk.training.imitation import imitate, progress_along, sample_steps


@given(st.lists(st.integers(1, 6), min_size=1, max_size=9), st.integers(1, 30), st.integers(0, 99))
def test_batch_has_all_steps_of_its_episodes_and_some_of_the_last(
    counts: list[int], batch: int, seed: int
) -> None:
    count = np.array(counts)
    episodes, steps = sample_steps(count, batch, np.random.default_rng(seed))
    assert len(episodes) == len(steps) == batch
    assert (steps < count[episodes]).all()
    begin = 0
    while begin < batch:  # one sampled episode after another
        size = counts[episodes[begin]]
        theirs = steps[begin : begin + size]
        assert (episodes[begin : begin + size] == episodes[begin]).all()
        if len(theirs) == size:
            assert theirs.tolist() == list(range(size))
        else:
            assert (np.diff(theirs) > 0).all()
        begin += size


def test_every_step_is_sampled_equally_often() -> None:
    """Five steps of episodes with three each: all of the first episode, and any two of the second."""
    count = np.zeros((2, 3))
    for seed in range(600):
        np.add.at(count, sample_steps(np.array([3, 3]), 5, np.random.default_rng(seed)), 1)
    # 3000 samples of 6 steps: 500 each, with a standard deviation of about 20.
    assert np.abs(count - 500).max() < 80


def test_target_of_the_progress_monitor_along_an_episode() -> None:
    """The third step of episode 0 leads from 2 to 4, 2 sqrt(2) m: already within 3 m. Seen from the start of
    the whole path, as one step, 4 + 2 sqrt(2) m are to go."""
    task = square_task()
    teacher, batches = Teacher.of(task.houses).to("cpu"), square_batches(task)
    third = batches.batch(np.array([0]), np.array([2]), np.array([3]))
    rows = torch.zeros(2, dtype=torch.int64)
    assert progress_along(third, teacher, torch.tensor([2, 3]), rows).tolist() == pytest.approx(
        [1.0, max(-1.0, -2 / 8**0.5)]
    )
    second = batches.batch(np.array([1]), np.array([0]), np.array([1]))  # from 3 to 2, 2 m
    assert progress_along(second, teacher, torch.tensor([3, 1]), rows).tolist() == [1.0, 1.0]


def test_progress_loss_is_a_part_of_imitation_with_its_weight() -> None:
    task = square_task()
    observer, batches = square_observer(task), square_batches(task)
    teacher = Teacher.of(task.houses).to("cpu")
    network = square_model(observer, decoder="coground", progress_monitor=True).network.eval()
    rollout = Rollout(network, observer)

    def losses(weight: float) -> dict[str, float]:
        torch.manual_seed(0)
        found, _ = imitate(
            rollout, batches, teacher, np.random.default_rng(0), size=4, teacher_share=1.0, progress=weight
        )
        return {name: loss.weight * loss.value.item() for name, loss in found.items()}

    half, whole, none = losses(0.5), losses(1.0), losses(0.0)
    assert half["imitation"] == whole["imitation"] == none["imitation"]
    assert whole["progress"] == pytest.approx(2 * half["progress"])
    assert whole["progress"] > 0
    assert "progress" not in none
    # By hand, along the teacher's way.
    chosen = np.array([0, 1])
    batch = batches.batch(chosen, np.zeros(2, dtype=np.int64), np.array([3, 1]))
    for record in rollout.run(batch, follow_teacher(task, batch)).records:
        assert record.decision.progress is not None
        assert record.decision.progress.abs().max() < 1
