"""Lectures on a small house: what is walked, what is paid for, and what is learned from it, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from square import leading, square_lessons, square_model, square_observer, square_task
from torch import Tensor

from babywalk.buildings.houses import Houses
from babywalk.common.ragged import Ragged
from babywalk.decoding.episode_batch import EpisodeBatch
from babywalk.decoding.rollout import ActionSelector, Rollout, RolloutResult
from babywalk.modules.model import Model
from babywalk.navigation.teacher import Teacher
from babywalk.training import loop, stages
from babywalk.training.config import ImitationConfig, ReinforceConfig, TrainingConfig
from babywalk.training.loop import Trainer, descend, fresh_optimiser
from babywalk.training.stages import IterationResult, Lecture, Stage, training_stages

# The one walk goes from 0 over 1 and 2 to 4, a step each. From 2 one comes to 1, 3 and 4.
TASK = square_task(walks=1)
LESSONS = square_lessons(TASK)
OBSERVER = square_observer(TASK)
TEACHER = Teacher.of(TASK.houses).to("cpu")


class Watched(Rollout):
    """A guide who writes down what was walked."""

    def __init__(self, model: Model) -> None:
        super().__init__(model.network, OBSERVER)
        self.lessons: list[EpisodeBatch] = []
        self.journeys: list[RolloutResult] = []

    def walk(self, lesson: EpisodeBatch, choose: ActionSelector, **options: Any) -> RolloutResult:
        journey = super().walk(lesson, choose, **options)
        self.lessons.append(lesson)
        self.journeys.append(journey)
        return journey


@pytest.fixture
def model() -> Model:
    return square_model(OBSERVER)


@pytest.fixture
def guide(model: Model) -> Watched:
    return Watched(model)


def config(**options: Any) -> TrainingConfig:
    chosen = {"samples": 2, "batches": (1, 1), **options}
    return TrainingConfig(reinforce=ReinforceConfig(lectures=len(chosen["batches"]), **chosen))


def lecture(guide: Rollout, k: int | None, **options: Any) -> Lecture:
    return Lecture(guide, [LESSONS], TEACHER, config(**options), k)


def drawn(patch: pytest.MonkeyPatch, moments: Sequence[Sequence[tuple[int, int]]]) -> None:
    """Let walkers draw these moves, moment after moment, of those on their way; to where one is: STOP."""
    script = iter(moments)

    def draw(logits: Tensor) -> Tensor:
        moves = next(script)
        assert len(moves) == len(logits)
        return torch.tensor([leading(TASK.houses, *move) for move in moves])

    patch.setattr(stages, "draw_action", draw)


def paid(patch: pytest.MonkeyPatch, worth: Sequence[float]) -> list[list[int]]:
    """Reward walks with these, one after another; the paths that they were for."""
    paths: list[list[int]] = []

    def rewards(kind: str, houses: Houses, walked: Ragged, described: Ragged) -> NDArray[np.float64]:
        assert [described[row].tolist() for row in range(len(described))] == [[0, 1, 2, 4]] * len(walked)
        before = len(paths)
        paths.extend(walked[row].tolist() for row in range(len(walked)))
        return np.array(worth[before : len(paths)], dtype=np.float64)

    patch.setattr(stages, "rewards", rewards)
    return paths


# Of two walkers one goes as it should, and the other does not.
@pytest.mark.parametrize(
    ("k", "moments", "steps", "behind", "paths"),
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
        # More steps than there are: all of them.
        (4, [[(0, 0), (0, 0)]] * 3, 3, 0, [[0], [0]]),
    ],
)
def test_the_last_steps_are_walked_and_the_whole_path_is_paid_for(
    guide: Watched,
    monkeypatch: pytest.MonkeyPatch,
    k: int | None,
    moments: list[list[tuple[int, int]]],
    steps: int,
    behind: int,
    paths: list[list[int]],
) -> None:
    drawn(monkeypatch, moments)
    found = paid(monkeypatch, [1.0, 0.25])
    outcome = lecture(guide, k, batches=(1,) * 4).iterate(0, 0.0)
    (lesson,), (journey,) = guide.lessons, guide.journeys
    assert (len(lesson.ahead), len(lesson.behind)) == (steps, behind)
    assert len(journey.moments) == len(moments)
    assert found == paths
    assert outcome.reward == outcome.report["reward"] == 0.625


@pytest.mark.parametrize(
    ("baseline", "so_far", "advantage"),
    [
        ("running", 0.75, (1.25, -0.25, 0.25, -0.75)),  # the rewards below less 0.75
        ("running", None, (1.125, -0.375, 0.125, -0.875)),  # at first less 0.875, their own mean
        ("instruction", 0.75, (0.75, -0.75, 0.5, -0.5)),  # less 1.25, the first two's mean, and the others'
    ],
)
def test_the_loss_by_hand(
    guide: Watched,
    monkeypatch: pytest.MonkeyPatch,
    baseline: str,
    so_far: float | None,
    advantage: tuple[float, ...],
) -> None:
    """Two instructions, two walkers each. A goes to 4 and stops, C to 3 and back and stops, B and D stop at
    once: seven decisions, each worth half of the one after it. The policy is that at the temperature."""
    drawn(monkeypatch, [[(2, 4), (2, 2), (2, 3), (2, 2)], [(4, 4), (3, 2)], [(2, 2)]])
    paid(monkeypatch, [2.0, 0.5, 1.0, 0.0])
    options = {"baseline": baseline, "batches": (2,), "discount": 0.5, "temperature": 2.0}
    outcome = lecture(guide, 1, **options).iterate(0, so_far)
    first, second, third = (
        (moment.decision.logits / 2).log_softmax(dim=1) for moment in guide.journeys[0].moments
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


def test_what_was_rewarded_becomes_more_likely(
    guide: Watched, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the real reward: 4 is where the path ends, and 3 is 4.8 m away from it."""
    stage = lecture(guide, 1, baseline="instruction", learning_rate=1e-3)
    for _ in range(2):
        drawn(monkeypatch, [[(2, 4), (2, 3)], [(4, 4), (3, 3)]])
        loss = stage.iterate(0, 0.0).loss
        descend(model.network, fresh_optimiser(model.network, stage), loss, stage.clip)
    before, after = (journey.moments[0].decision.logits[0].softmax(dim=0) for journey in guide.journeys)
    right, wrong = leading(TASK.houses, 2, 4), leading(TASK.houses, 2, 3)
    assert after[right] > before[right]
    assert after[wrong] < before[wrong]


def test_what_the_expert_would_do_is_learned_beside(guide: Watched) -> None:
    """An imitation loss, which is above zero as any, is added to that of the rewards by its weight."""
    torch.manual_seed(0)
    outcome = lecture(guide, 1, imitation=0.25).iterate(0, 0.5)
    own, taught = outcome.report["loss"], outcome.report["imitation"]
    assert taught > 0
    assert outcome.loss.item() == pytest.approx(own + 0.25 * taught, rel=1e-5)
    assert [len(lesson) for lesson in guide.lessons] == [1, 2]  # as many walkers as there were samples


def test_every_lecture_has_a_batch_of_its_own(guide: Watched) -> None:
    torch.manual_seed(0)
    for k in (1, 2, 3, None):
        lecture(guide, k, batches=(3, 1, 2)).iterate(0, 0.0)
    assert [len(lesson) for lesson in guide.lessons] == [3, 1, 2, 2]  # of all steps: as in the last
    assert [len(journey.moments[0].walkers) for journey in guide.journeys] == [6, 2, 4, 4]


class AlignmentExamples(Lecture):
    """A lecture that writes down the baselines that it is given."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.told: list[float | None] = []

    def iterate(self, iteration: int, baseline: float | None) -> IterationResult:
        self.told.append(baseline)
        return super().iterate(iteration, baseline)


def train(folder: Path, model: Model, chosen: TrainingConfig, run: Sequence[Stage]) -> None:
    Trainer(folder, model, run, chosen, lambda: {"SDTW": 0.5}).run_all()


def test_the_baseline_is_a_running_mean_of_the_stage_s_rewards(
    guide: Watched, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Means of the first lecture's iterations are 1, 2 and 9, of the second's 4, 4 and 4."""
    paid(monkeypatch, [0.5, 1.5, 2.0, 2.0, 9.0, 9.0, 3.0, 5.0, 4.0, 4.0, 4.0, 4.0])
    chosen = config(iterations=3)
    first, second = (AlignmentExamples(guide, [LESSONS], TEACHER, chosen, k) for k in (1, 2))
    train(tmp_path, model, chosen, [first, second])
    assert first.told[0] is second.told[0] is None
    assert first.told[1:] == pytest.approx([1, 0.95 * 1 + 0.05 * 2])
    assert second.told[1:] == pytest.approx([4, 4])


def test_every_stage_begins_with_a_fresh_optimiser_of_its_own_settings(
    guide: Watched, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: list[tuple[bool, float, float]] = []

    def watched(network: torch.nn.Module, optimiser: torch.optim.Optimizer, *rest: Any) -> float:
        (group,) = optimiser.param_groups
        known.append((bool(optimiser.state), group["lr"], group["weight_decay"]))
        return descend(network, optimiser, *rest)

    monkeypatch.setattr(loop, "descend", watched)
    chosen = TrainingConfig(
        imitation=ImitationConfig(iterations=2, batch=2, learning_rate=1e-3, weight_decay=0.5),
        reinforce=ReinforceConfig(
            lectures=2, iterations=2, batches=(1, 1), samples=2, learning_rate=1e-4, weight_decay=0.25
        ),
    )
    train(tmp_path, model, chosen, training_stages(chosen, guide, [LESSONS], [LESSONS], TEACHER))
    of_lecture = [(False, 1e-4, 0.25), (True, 1e-4, 0.25)]
    assert known == [(False, 1e-3, 0.5), (True, 1e-3, 0.5), *of_lecture, *of_lecture]


@pytest.mark.parametrize(("decay", "expected"), [(0.5, [2.9, -3.9]), (0.0, [3.0, -4.0])])
def test_weights_decay(guide: Watched, decay: float, expected: list[float]) -> None:
    """Where nothing is to be learned: Adam's first step is the learning rate, towards zero."""
    layer = torch.nn.Linear(2, 1, bias=False)
    layer.weight.data = torch.tensor([[3.0, -4.0]])
    stage = lecture(guide, 1, learning_rate=0.1, weight_decay=decay)
    descend(layer, fresh_optimiser(layer, stage), 0 * layer(torch.ones(2)).sum(), stage.clip)
    assert layer.weight[0].tolist() == pytest.approx(expected, rel=1e-5)
