"""Rollouts in a small house."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from builders import placed, walk
from square import TEXTS, follow_teacher, square_batches, square_model, square_observer, square_task

from babywalk.agents.learned import walk_episodes
from babywalk.common.ragged import Ragged
from babywalk.decoding import rollout as rollout_module
from babywalk.decoding.decoders import Greedy, Sample
from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.decoding.rollout import Rollout
from babywalk.episodes.joining import JoinRule
from babywalk.episodes.task import Task, join_task
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.segmented import SegmentedTexts
from babywalk.instructions.sentences import Sentence
from babywalk.modules.kernels import KERNELS, packed_lstm
from babywalk.modules.memory import SUMMARIES
from babywalk.modules.model import Model
from babywalk.modules.observation import Observation
from babywalk.modules.text_encoder import EncodedText
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.world import World
from babywalk.training.imitation import teacher_actions


@pytest.fixture
def task() -> Task:
    return square_task()


@pytest.fixture
def batches(task: Task) -> EpisodeBatches:
    return square_batches(task)


@pytest.fixture
def model(task: Task) -> Model:
    return square_model(square_observer(task))


@pytest.fixture(params=KERNELS)
def rollout(request: pytest.FixtureRequest, model: Model, task: Task) -> Rollout:
    return Rollout(model.network, square_observer(task), kernels=request.param)


def test_walkers_that_follow_the_teacher_walk_the_described_path(
    batches: EpisodeBatches, rollout: Rollout, task: Task
) -> None:
    batch = batches.full(np.array([0, 1]))
    result = rollout.run(batch, follow_teacher(task, batch))
    walked = result.trajectories()
    assert [walked.viewpoints[row].tolist() for row in range(2)] == [[0, 1, 2, 4], [3, 2]]
    assert [walked.views[row].tolist() for row in range(2)] == [[13, 12, 15, 24], [13, 12]]
    # Episode 0 has three steps of a move and a STOP each, episode 1 one; finished walkers are dropped.
    assert [record.walkers.tolist() for record in result.records] == [[0, 1], [0, 1], [0], [0], [0], [0]]
    assert [record.step for record in result.records] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(("along_path", "walked"), [(False, [0, 1]), (True, [0, 3, 2, 1])])
def test_the_teacher_follows_the_shortest_path_or_the_expert_s(
    task: Task, rollout: Rollout, model: Model, along_path: bool, walked: list[int]
) -> None:
    """The expert takes the long way round the square, in one step that is the whole instruction."""
    walks = placed(task.houses, walk("h", [0, 3, 2, 1], 1, TEXTS[:1]))
    detour = join_task("r2r", "val", task.houses, walks, JoinRule(1, 0, {}), seed=None)
    segmented = SegmentedTexts.of([[Sentence(0, len(TEXTS[0]))]], frozenset())
    steps = BabySteps(detour, segmented, Ragged.of([[1]]), Ragged.of([[3]]))
    batch = EpisodeBatches.of(steps, World.of(task.houses), model.vocabulary, model.config).full(
        np.array([0])
    )
    teacher = Teacher.of(task.houses).to("cpu")
    action = teacher_actions(batch, teacher, along_path=along_path, device=rollout.device)
    result = rollout.run(batch, lambda _, walkers: action(walkers.poses.viewpoint, walkers.row))
    assert result.trajectories().viewpoints[0].tolist() == walked


@pytest.mark.parametrize("memory", SUMMARIES)
@pytest.mark.parametrize("kernels", KERNELS)
def test_memory_of_own_steps_equals_memory_of_the_expert_s_history(
    batches: EpisodeBatches, task: Task, memory: str, kernels: str
) -> None:
    """A walker that did what the expert did makes the same last decision as one given the history."""
    observer = square_observer(task)
    rollout = Rollout(square_model(observer, memory=memory).network.eval(), observer, kernels=kernels)

    def last_logits(first: int) -> torch.Tensor:
        batch = batches.batch(np.array([0]), np.array([first]), np.array([3]))
        with torch.no_grad():
            return rollout.run(batch, follow_teacher(task, batch)).records[-1].decision.logits

    assert torch.allclose(last_logits(0), last_logits(2), atol=1e-6)
    assert torch.allclose(last_logits(0), last_logits(1), atol=1e-6)


def test_walkers_with_dropped_history_decide_as_with_an_empty_memory(
    batches: EpisodeBatches, model: Model, rollout: Rollout
) -> None:
    network = model.network.train()
    batch = batches.batch(np.array([0] * 64), np.array([2] * 64), np.array([3] * 64))

    def first_logits(rate: float) -> torch.Tensor:
        network.config = replace(model.config, history_dropout=rate)
        torch.manual_seed(0)
        return rollout.run(batch, Greedy()).records[0].decision.logits

    with_history, some = first_logits(0.0), first_logits(0.5)
    network.memory.read = lambda memory: torch.zeros(len(memory.weight), 24)
    without = first_logits(0.0)
    dropped = torch.isclose(some, without).all(dim=1)
    assert torch.isclose(some, with_history).all(dim=1).eq(~dropped).all()
    assert 16 < int(dropped.sum()) < 48


def test_copies_share_encodings_and_take_their_own_actions(batches: EpisodeBatches, rollout: Rollout) -> None:
    batch = batches.batch(np.array([0, 1]), np.array([1, 0]), np.array([3, 1]))
    torch.manual_seed(0)
    result = rollout.run(batch, Sample(), copies=6)
    first = result.records[0]
    assert first.walkers.tolist() == list(range(12))
    assert first.before.viewpoint.tolist() == [1] * 6 + [3] * 6
    logits = first.decision.logits
    assert torch.allclose(logits[:6], logits[:1].expand(6, -1), atol=1e-6)
    assert len({tuple(row) for row in result.trajectories().viewpoints.padded().tolist()}) > 2


def test_a_step_has_at_most_max_moves_decisions(batches: EpisodeBatches, rollout: Rollout) -> None:
    batch = replace(batches, max_moves=4).full(np.array([1]))
    result = rollout.run(batch, lambda _, walkers: torch.ones_like(walkers.poses.viewpoint))
    assert len(result.records) == 4


def test_greedy_rollouts_are_deterministic(batches: EpisodeBatches, rollout: Rollout) -> None:
    rollout.network.eval()
    with torch.no_grad():
        one, two = (
            rollout.run(batches.full(np.array([0, 1])), Greedy()).trajectories().viewpoints for _ in range(2)
        )
    assert one.values.tolist() == two.values.tolist()


def test_shared_history_is_encoded_once(
    batches: EpisodeBatches, rollout: Rollout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All three steps of episode 0 as walkers of one batch: the third has two past steps, of which the
    second has the first. Logits and gradients are those of the walkers on their own."""
    network, encoded_texts, encoded_trajectories = rollout.network, [], []
    encode_text, encode_trajectory = network.encode_text, network.encode_trajectory

    def counted_text(tokens: torch.Tensor, lengths: torch.Tensor) -> EncodedText:
        encoded_texts.append(len(lengths))
        return encode_text(tokens, lengths)

    def counted_trajectory(
        observation: Observation, actions: torch.Tensor, lengths: torch.Tensor
    ) -> torch.Tensor:
        encoded_trajectories.append(lengths.tolist())
        return encode_trajectory(observation, actions, lengths)

    monkeypatch.setattr(network, "encode_text", counted_text)
    monkeypatch.setattr(network, "encode_trajectory", counted_trajectory)

    def logits_and_gradients(*steps: int) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        first = np.array(steps)
        batch = batches.batch(np.zeros_like(first), first, first + 1)
        logits = rollout.run(batch, Greedy()).records[0].decision.logits
        scores = logits.masked_fill(logits.isinf(), 0)
        network.zero_grad()
        scores.square().sum().backward()
        return scores.detach(), {
            name: weight.grad.clone()
            for name, weight in network.named_parameters()
            if weight.grad is not None
        }

    scores, gradients = logits_and_gradients(0, 1, 2)
    assert (encoded_texts, encoded_trajectories) == ([3], [[2, 2]])
    alone = [logits_and_gradients(step) for step in range(3)]
    assert sum(len(lengths) for lengths in encoded_trajectories) == 2 + 0 + 1 + 2
    assert torch.allclose(scores, torch.cat([found for found, _ in alone]), atol=1e-6)
    for name, gradient in gradients.items():
        total = sum(found[name] for _, found in alone if name in found)
        assert torch.allclose(gradient, total, atol=1e-5), name


def test_the_last_step_of_an_episode_is_not_encoded(
    batches: EpisodeBatches, rollout: Rollout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Episode 0 has three steps, of which two enter its memory; episode 1 has one, its last."""
    network, encoded = rollout.network, []
    encode_trajectory = network.encode_trajectory

    def counted(observation: Observation, actions: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        encoded.append(len(lengths))
        return encode_trajectory(observation, actions, lengths)

    monkeypatch.setattr(network, "encode_trajectory", counted)
    rollout.run(batches.full(np.array([0, 1, 0])), Greedy())
    assert encoded == [2, 2]


def test_rollouts_without_gradients_equal_those_with_gradients(
    batches: EpisodeBatches, rollout: Rollout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a product cache, in small chunks, and with episodes in any order: the same trajectories and
    logits."""
    monkeypatch.setattr(rollout_module, "_CHUNK", 1)  # fewer steps than any trajectory has
    monkeypatch.setattr(packed_lstm, "_CHUNK", 3)
    rollout.network.eval()
    order = np.array([1, 0, 0, 1])
    with_gradients = rollout.run(batches.full(order), Greedy())
    with torch.no_grad():
        without = rollout.run(batches.full(order), Greedy())
    with rollout.inference():
        in_inference = rollout.run(batches.full(order), Greedy())
    for result in (without, in_inference):
        for one, two in zip(with_gradients.records, result.records, strict=True):
            assert torch.allclose(one.decision.logits, two.decision.logits, atol=1e-6)
    expected, found = with_gradients.trajectories(), walk_episodes(rollout, batches, order, Greedy())
    assert found.viewpoints.padded().tolist() == expected.viewpoints.padded().tolist()
    assert found.views.padded().tolist() == expected.views.padded().tolist()


def test_inference_restores_the_mode_of_the_network(rollout: Rollout) -> None:
    for training in (True, False):
        rollout.network.train(training)
        with rollout.inference():
            assert not rollout.network.training
            assert torch.is_inference_mode_enabled()
        assert rollout.network.training == training
        with pytest.raises(ValueError, match="any error"), rollout.inference():
            raise ValueError("any error")
        assert rollout.network.training == training
