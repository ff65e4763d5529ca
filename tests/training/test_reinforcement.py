"""Lectures in a small house: what is walked and rewarded, and what is learned from it, checked by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from square import TEXTS, leading, square_batches, square_model, square_observer, square_task
from torch import Tensor

from babywalk.agents.babywalk import BABYWALK
from babywalk.buildings.houses import Houses
from babywalk.common.ragged import Ragged
from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.decoding.rollout import ActionSelector, Rollout, RolloutResult, Walkers
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.modules.decoder import Decision
from babywalk.modules.model import Model
from babywalk.modules.speaker import TextScores
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.world import start_poses
from babywalk.training import loop, reinforcement
from babywalk.training.checkpoint import Progress
from babywalk.training.config import ImitationConfig, ReinforceConfig, TrainingConfig
from babywalk.training.loop import Trainer
from babywalk.training.optimisation import gradient_step, new_optimiser
from babywalk.training.reinforcement import Lecture, Rewards
from babywalk.training.stage import IterationResult, Stage, TrainingSetup

# The only path is 0, 1, 2, 4, with one move per step. The neighbours of 2 are 1, 3 and 4.
TASK = square_task(walks=1)
BATCHES = square_batches(TASK)
OBSERVER = square_observer(TASK)
TEACHER = Teacher.of(TASK.houses).to("cpu")


class RecordedRollout(Rollout):
    """Keeps the batches that it ran and their results."""

    def __init__(self, model: Model) -> None:
        super().__init__(model.network, OBSERVER)
        self.batches: list[EpisodeBatch] = []
        self.results: list[RolloutResult] = []

    def run(self, batch: EpisodeBatch, select: ActionSelector, **options: Any) -> RolloutResult:
        result = super().run(batch, select, **options)
        self.batches.append(batch)
        self.results.append(result)
        return result


@pytest.fixture
def model() -> Model:
    return square_model(OBSERVER)


@pytest.fixture
def rollout(model: Model) -> RecordedRollout:
    return RecordedRollout(model)


def make_config(**options: Any) -> TrainingConfig:
    given = {"samples": 2, "batches": (1, 1), **options}
    return TrainingConfig(reinforce=ReinforceConfig(lectures=len(given["batches"]), **given))


def make_setup(rollout: Rollout, config: TrainingConfig) -> TrainingSetup:
    return TrainingSetup(
        config=config,
        rollout=rollout,
        teacher=TEACHER,
        episodes=lambda *_: [BATCHES],
    )


def lecture(rollout: Rollout, k: int | None, **options: Any) -> Lecture:
    return Lecture(make_setup(rollout, make_config(**options)), k)


def script_moves(
    patch: pytest.MonkeyPatch, moves: Sequence[Sequence[tuple[int, int]]], temperature: float = 1.0
) -> None:
    """Replace sampling by the moves of active walkers, decision after decision; (v, v) is STOP."""
    script = iter(moves)

    def select(decision: Decision, walkers: Walkers) -> Tensor:
        chosen = next(script)
        assert len(chosen) == len(decision.logits) == len(walkers)
        return torch.tensor([leading(TASK.houses, *move) for move in chosen])

    def sample(given: float) -> ActionSelector:
        assert given == temperature
        return select

    patch.setattr(reinforcement, "Sample", sample)


def script_rewards(patch: pytest.MonkeyPatch, rewards: Sequence[float]) -> list[list[int]]:
    """Replace the reward by these values, one after another; returns the paths that are rewarded."""
    paths: list[list[int]] = []

    def episode_rewards(kind: str, houses: Houses, walked: Ragged, reference: Ragged) -> NDArray[np.float64]:
        assert [reference[row].tolist() for row in range(len(reference))] == [[0, 1, 2, 4]] * len(walked)
        before = len(paths)
        paths.extend(walked[row].tolist() for row in range(len(walked)))
        return np.array(rewards[before : len(paths)], dtype=np.float64)

    patch.setattr(reinforcement, "episode_rewards", episode_rewards)
    return paths


# Of two walkers the first follows the expert's path, and the second does not.
@pytest.mark.parametrize(
    ("k", "moves", "remaining", "past", "paths"),
    [
        (1, [[(2, 4), (2, 3)], [(4, 4), (3, 3)]], 1, 2, [[0, 1, 2, 4], [0, 1, 2, 3]]),
        (
            2,
            [[(1, 2), (1, 1)], [(2, 2)], [(2, 4), (1, 0)], [(4, 4), (0, 0)]],
            2,
            1,
            [[0, 1, 2, 4], [0, 1, 0]],
        ),
        (
            None,
            [[(0, 1), (0, 0)], [(1, 1)], [(1, 2), (0, 0)], [(2, 2)], [(2, 4), (0, 3)], [(4, 4), (3, 3)]],
            3,
            0,
            [[0, 1, 2, 4], [0, 3]],
        ),
        # More than there are: all steps.
        (4, [[(0, 0), (0, 0)]] * 3, 3, 0, [[0], [0]]),
    ],
)
def test_last_k_steps_are_walked_and_the_whole_path_is_rewarded(
    rollout: RecordedRollout,
    monkeypatch: pytest.MonkeyPatch,
    k: int | None,
    moves: list[list[tuple[int, int]]],
    remaining: int,
    past: int,
    paths: list[list[int]],
) -> None:
    script_moves(monkeypatch, moves)
    rewarded = script_rewards(monkeypatch, [1.0, 0.25])
    outcome = lecture(rollout, k, batches=(1,) * 4).iterate(0, 0.0)
    (batch,), (result,) = rollout.batches, rollout.results
    assert (len(batch.instructions), len(batch.past_instructions)) == (remaining, past)
    assert len(result.records) == len(moves)
    assert rewarded == paths
    assert outcome.reward == outcome.report["reward"] == 0.625


@pytest.mark.parametrize(
    ("kind", "baseline", "advantage"),
    [
        ("running", 0.75, (1.25, -0.25, 0.25, -0.75)),  # the rewards below minus 0.75
        ("running", None, (1.125, -0.375, 0.125, -0.875)),  # at first minus their own mean of 0.875
        ("instruction", 0.75, (0.75, -0.75, 0.5, -0.5)),  # minus the mean of each instruction: 1.25 and 0.5
    ],
)
def test_loss_by_hand(
    rollout: RecordedRollout,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    baseline: float | None,
    advantage: tuple[float, ...],
) -> None:
    """Two instructions with two walkers each. A moves to 4 and stops, C to 3 and back and stops, B and D stop
    at once: seven decisions, discounted by 0.5. Logits are divided by the temperature."""
    script_moves(monkeypatch, [[(2, 4), (2, 2), (2, 3), (2, 2)], [(4, 4), (3, 2)], [(2, 2)]], temperature=2.0)
    script_rewards(monkeypatch, [2.0, 0.5, 1.0, 0.0])
    options = {"baseline": kind, "batches": (2,), "discount": 0.5, "temperature": 2.0}
    outcome = lecture(rollout, 1, **options).iterate(0, baseline)
    first, second, third = (
        (record.decision.logits / 2).log_softmax(dim=1) for record in rollout.results[0].records
    )
    stop, north, south, back = (leading(TASK.houses, *move) for move in ((2, 2), (2, 4), (2, 3), (3, 2)))
    a, b, c, d = advantage
    of_a = a / 2 * first[0, north] + a * second[0, stop]
    of_b = b * first[1, stop]
    of_c = c / 4 * first[2, south] + c / 2 * second[1, back] + c * third[0, stop]
    of_d = d * first[3, stop]
    expected = -(of_a + of_b + of_c + of_d) / 7
    assert outcome.loss.item() == pytest.approx(expected.item(), rel=1e-5)
    assert outcome.report["loss"] == outcome.loss.item()


def test_rewarded_actions_become_more_likely(
    rollout: RecordedRollout, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the real reward: the path ends at 4, and 3 is 4.8 m away from it."""
    stage = lecture(rollout, 1, baseline="instruction", learning_rate=1e-3)
    for _ in range(2):
        script_moves(monkeypatch, [[(2, 4), (2, 3)], [(4, 4), (3, 3)]])
        loss = stage.iterate(0, 0.0).loss
        gradient_step(model.network, new_optimiser(model.network, stage), loss, stage.clip)
    before, after = (result.records[0].decision.logits[0].softmax(dim=0) for result in rollout.results)
    right, wrong = leading(TASK.houses, 2, 4), leading(TASK.houses, 2, 3)
    assert after[right] > before[right]
    assert after[wrong] < before[wrong]


def test_imitation_loss_is_added_with_its_weight(rollout: RecordedRollout) -> None:
    torch.manual_seed(0)
    outcome = lecture(rollout, 1, imitation=0.25).iterate(0, 0.5)
    own, imitation = outcome.report["policy"], outcome.report["imitation"]
    assert imitation > 0
    assert outcome.loss.item() == pytest.approx(own + 0.25 * imitation, rel=1e-5)
    assert [len(batch) for batch in rollout.batches] == [1, 2]  # imitation has as many walkers as samples


def test_every_lecture_has_its_own_batch_size(rollout: RecordedRollout) -> None:
    torch.manual_seed(0)
    for k in (1, 2, 3, None):
        lecture(rollout, k, batches=(3, 1, 2)).iterate(0, 0.0)
    assert [len(batch) for batch in rollout.batches] == [3, 1, 2, 2]  # with all steps: that of the last
    assert [len(result.records[0].walkers) for result in rollout.results] == [6, 2, 4, 4]


class RecordedLecture(Lecture):
    """Keeps the baselines that it is given."""

    def __init__(self, setup: TrainingSetup, k: int | None) -> None:
        super().__init__(setup, k)
        self.baselines: list[float | None] = []

    def iterate(self, iteration: int, baseline: float | None) -> IterationResult:
        self.baselines.append(baseline)
        return super().iterate(iteration, baseline)


def train(folder: Path, model: Model, config: TrainingConfig, stages: Sequence[Stage]) -> None:
    Trainer(folder, model, stages, config, lambda: {"SDTW": 0.5}).run_all()


def test_baseline_is_the_running_mean_of_the_rewards_of_a_stage(
    rollout: RecordedRollout, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mean rewards of the first lecture's iterations are 1, 2 and 9, of the second's 4, 4 and 4."""
    script_rewards(monkeypatch, [0.5, 1.5, 2.0, 2.0, 9.0, 9.0, 3.0, 5.0, 4.0, 4.0, 4.0, 4.0])
    config = make_config(iterations=3)
    first, second = (RecordedLecture(make_setup(rollout, config), k) for k in (1, 2))
    train(tmp_path, model, config, [first, second])
    assert first.baselines[0] is second.baselines[0] is None
    assert first.baselines[1:] == pytest.approx([1, 0.95 * 1 + 0.05 * 2])
    assert second.baselines[1:] == pytest.approx([4, 4])


def test_cumulative_baseline_is_the_mean_over_all_decisions() -> None:
    """Two walkers of three and one decisions with rewards 4 and 8, discount 0.5: returns 1, 2, 4 and 8."""
    stage = Lecture.__new__(Lecture)
    stage.config = ReinforceConfig(baseline="cumulative", discount=0.5)
    walker = torch.tensor([0, 1, 0, 0])  # in the order of time
    rewards, none = (
        Rewards(last=np.array([4.0, 8.0]), outcome=np.array([4.0, 8.0]), goals=None),
        torch.zeros(()),
    )
    advantage, mean = stage._advantage(rewards, none, walker, None)
    assert mean == pytest.approx(15 / 4)
    assert advantage.tolist() == pytest.approx([1 - 3.75, 8 - 3.75, 2 - 3.75, 4 - 3.75])
    again, _ = stage._advantage(rewards, none, walker, 3.0)
    assert again.tolist() == pytest.approx([-2, 5, -1, 1])
    trainer = Trainer.__new__(Trainer)
    trainer.progress = Progress()
    for reward, decisions, expected in ((3.75, 4, 3.75), (1.0, 4, 2.375), (0.0, 8, 1.1875)):
        trainer._update_baseline(IterationResult({}, {}, reward, decisions))
        assert trainer.progress.baseline == pytest.approx(expected)


def test_every_stage_has_a_new_optimiser_with_its_own_settings(
    rollout: RecordedRollout, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[bool, float, float]] = []

    def recorded(
        network: torch.nn.Module, optimiser: torch.optim.Optimizer, *rest: Any, **more: Any
    ) -> float:
        (group,) = optimiser.param_groups
        seen.append((bool(optimiser.state), group["lr"], group["weight_decay"]))
        return gradient_step(network, optimiser, *rest, **more)

    monkeypatch.setattr(loop, "gradient_step", recorded)
    config = TrainingConfig(
        imitation=ImitationConfig(iterations=2, batch=2, learning_rate=1e-3, weight_decay=0.5),
        reinforce=ReinforceConfig(
            lectures=2, iterations=2, batches=(1, 1), samples=2, learning_rate=1e-4, weight_decay=0.25
        ),
    )
    train(tmp_path, model, config, BABYWALK.training_stages(make_setup(rollout, config)))
    of_lecture = [(False, 1e-4, 0.25), (True, 1e-4, 0.25)]
    assert seen == [(False, 1e-3, 0.5), (True, 1e-3, 0.5), *of_lecture, *of_lecture]


def test_goal_reward_counts_every_move_and_the_distance_that_is_left(
    rollout: RecordedRollout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One walker goes from 2 to 4, the goal, and stops; the other goes to 3 and stops there.

    The goal is r = 2 sqrt(2) m from 2 and r + 2 m from 3. At the end the first has 1 for success and 0 m
    left, the second 0 and r + 2 m: outcomes 1 and -(r + 2), whose mean is b.
    """
    script_moves(monkeypatch, [[(2, 4), (2, 3)], [(4, 4), (3, 3)]])
    options = {"reward": "goal", "baseline": "instruction", "discount": 0.5}
    outcome = lecture(rollout, 1, **options).iterate(0, None)
    r = 2 * math.sqrt(2)
    b = (1 - (r + 2)) / 2
    start = 4 + r  # of the whole path: 0, 1, 2, 4
    assert outcome.report["reward"] == pytest.approx((start + 1 + start - (r + 2)) / 2, rel=1e-5)
    advantages = [
        [r - r + 0.5 * (1 - b), -2 - r - 0.5 * b],  # returns of progress minus the metres left, and the end
        [0 - 0 + (1 - b), 0 - (r + 2) - b],
    ]
    expected = 0.0
    records = rollout.results[0].records
    moves = [[(2, 4), (2, 3)], [(4, 4), (3, 3)]]
    for record, made, advantage in zip(records, moves, advantages, strict=True):
        chosen = record.decision.logits.log_softmax(dim=1)
        for row, (move, value) in enumerate(zip(made, advantage, strict=True)):
            expected -= value * chosen[row, leading(TASK.houses, *move)].item() / 4
    assert outcome.loss.item() == pytest.approx(expected, rel=1e-5)


def test_progress_of_a_goal_reward_needs_no_discount_to_equal_the_reward_at_the_end(
    rollout: RecordedRollout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without discounting, every decision of a walker has the advantage of its whole path."""
    found = {}
    original = Lecture._advantage

    def recorded(stage: Lecture, *given: Any) -> Any:
        advantage, mean = original(stage, *given)
        found["advantage"], found["walker"] = advantage, given[2]
        return advantage, mean

    monkeypatch.setattr(Lecture, "_advantage", recorded)
    torch.manual_seed(0)
    lecture(rollout, None, reward="goal", baseline="instruction", discount=1.0, samples=6).iterate(0, None)
    for walker in range(6):
        own = found["advantage"][found["walker"] == walker]
        torch.testing.assert_close(own, own[:1].expand(len(own)), rtol=1e-4, atol=1e-4)
    of_walkers = [float(found["advantage"][found["walker"] == walker][0]) for walker in range(6)]
    assert sum(of_walkers) == pytest.approx(0, abs=1e-3)
    assert np.ptp(of_walkers) > 0


class ScriptedSpeaker:
    """Gives a path log-probabilities by its last viewpoint."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[int], int, list[int]]] = []

    def translated(self, texts: Ragged, vocabulary: Vocabulary) -> Ragged:
        assert vocabulary is BATCHES.vocabulary
        return texts

    def log_probabilities(self, paths: Ragged, views: NDArray[np.int64], texts: Ragged) -> TextScores:
        self.asked += [
            (paths[row].tolist(), int(views[row]), texts[row].tolist()) for row in range(len(paths))
        ]
        return TextScores(-paths.lasts.astype(np.float64), np.full(len(paths), 2))


def test_cycle_reward_adds_the_speakers_mean_log_probability(
    rollout: RecordedRollout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths that end at 4 and 3 get -4 / 2 and -3 / 2 from the speaker, times the weight of 0.1."""
    script_moves(monkeypatch, [[(2, 4), (2, 3)], [(4, 4), (3, 3)]])
    script_rewards(monkeypatch, [2.0, 0.5])
    speaker = ScriptedSpeaker()
    setup = replace(make_setup(rollout, make_config(cycle=0.1)), speaker=lambda: speaker)
    outcome = Lecture(setup, 1).iterate(0, 0.0)
    assert outcome.reward == pytest.approx((2.0 - 0.2 + 0.5 - 0.15) / 2)
    assert outcome.report["reward"] == pytest.approx(1.25)  # without the cycle, to compare agents
    assert outcome.report["cycle"] == pytest.approx(-1.75)
    whole = BATCHES.vocabulary.encode([TEXTS[0]]).tokens[0].tolist()
    start = int(start_poses(TASK, np.array([0])).view[0])
    assert speaker.asked == [([0, 1, 2, 4], start, whole), ([0, 1, 2, 3], start, whole)]
