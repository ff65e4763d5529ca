"""Stages of learning: each turns an iteration number into a loss, and nothing else is remembered between two.

Every draw depends on the seed, the stage and the iteration alone, so that a run which is resumed goes on as
if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from babywalk.common.ragged import concat_within_rows, starts
from babywalk.common.seeding import generator
from babywalk.decoding.episode_batch import EpisodeBatch, EpisodeBatches
from babywalk.decoding.rollout import Rollout, RolloutResult, draw_action, sampled
from babywalk.modules.decoder import Decision
from babywalk.navigation.rewards import rewards
from babywalk.navigation.teacher import Teacher
from babywalk.training.config import TrainingConfig
from babywalk.training.losses import discounted, entropy, imitation_loss, policy_gradient_loss


@dataclass(frozen=True, slots=True)
class IterationResult:
    """The loss of one iteration and what to report of it."""

    loss: Tensor
    report: dict[str, float]
    reward: float | None = None  # mean, where there is one


class Stage(Protocol):
    """One stage of a run."""

    name: str
    iterations: int
    learning_rate: float
    weight_decay: float
    warm_up: int
    decay_from: float
    clip: float

    def iterate(self, iteration: int, baseline: float | None) -> IterationResult:
        """The loss of one iteration; `baseline` is the running mean of rewards, None before the first."""
        ...


class Imitation:
    """Single Baby-Steps from where the expert began them, with the expert's history (section 4.2.1)."""

    name = "imitation"

    def __init__(
        self,
        guide: Rollout,
        lessons: Sequence[EpisodeBatches],  # that batches take turns with
        teacher: Teacher,
        config: TrainingConfig,
    ) -> None:
        self.guide, self.lessons, self.teacher, self.config = guide, lessons, teacher, config
        self.iterations = config.imitation.iterations
        self.learning_rate = config.imitation.learning_rate
        self.weight_decay = config.imitation.weight_decay
        self.warm_up, self.decay_from = config.imitation.warm_up, config.imitation.decay_from
        self.clip = config.imitation.clip

    def iterate(self, iteration: int, baseline: float | None) -> IterationResult:  # noqa: ARG002
        """Cross-entropy of the teacher's actions where the walkers went."""
        draw = generator(self.config.seed, self.name, iteration)
        chosen = self.config.imitation
        loss, right = imitate(
            self.guide,
            self.lessons[iteration % len(self.lessons)],
            self.teacher,
            chosen.batch,
            chosen.teacher_share,
            draw,
            chain=chosen.chain,
            mirror=self.config.mirror,
            along=chosen.teacher == "path",
        )
        return IterationResult(loss, {"loss": float(loss.detach()), "accuracy": right})


def imitate(
    guide: Rollout,
    lessons: EpisodeBatches,
    teacher: Teacher,
    batch: int,
    teacher_share: float,
    draw: np.random.Generator,
    *,
    chain: int = 1,
    mirror: float = 0.0,
    along: bool = False,
) -> tuple[Tensor, float]:
    """The imitation loss of a batch of steps, and the share of decisions that were the teacher's.

    With a chain, up to so many steps in a row: who strays in one learns in the next to find back.
    `mirror` is the probability that all of it happens in a mirror. The teacher shows the shortest way to
    where a step ends, or, `along`, the expert's.
    """
    episodes, step = steps_of_some(lessons.count, batch, draw)
    last = np.minimum(step + 1 + (draw.random(batch) * chain).astype(np.int64), lessons.count[episodes])
    follows = torch.from_numpy(draw.random(batch) < teacher_share)
    lesson = lessons.lesson(episodes, step, last, mirrored=draw.random() < mirror)
    shown = advice(lesson, teacher, along=along)
    told: list[Tensor] = []

    def choose(decision: Decision, walkers: Tensor, viewpoints: Tensor, rows: Tensor) -> Tensor:
        due = shown(viewpoints, rows)
        told.append(due)
        own = sampled(decision, walkers, viewpoints, rows)
        return torch.where(follows[walkers], due, own)

    journey = guide.walk(lesson, choose)
    logits = torch.cat([moment.decision.logits for moment in journey.moments])
    due = torch.cat(told)
    right = float((logits.argmax(dim=1) == due).float().mean())
    return imitation_loss(logits, due), right


class Lecture:
    """The last k Baby-Steps after the expert's prefix; the reward is for the whole path (section 4.2.2).

    With k of None all steps are walked: plain reinforcement learning.
    """

    def __init__(
        self,
        guide: Rollout,
        lessons: Sequence[EpisodeBatches],  # that iterations take turns with
        teacher: Teacher,
        config: TrainingConfig,
        k: int | None,
    ) -> None:
        self.guide, self.lessons, self.teacher, self.training = guide, lessons, teacher, config
        self.config, self.k = config.reinforce, k
        self.name = "reinforce" if k is None else f"lecture {k}"
        self.batch = self.config.batches[-1 if k is None else k - 1]
        self.iterations = self.config.iterations
        self.learning_rate = self.config.learning_rate
        self.weight_decay = self.config.weight_decay
        self.warm_up, self.decay_from = self.config.warm_up, self.config.decay_from
        self.clip = self.config.clip

    def iterate(self, iteration: int, baseline: float | None) -> IterationResult:
        """The policy gradient of sampled walks."""
        config, samples, mirror = self.config, self.config.samples, self.training.mirror
        lessons = self.lessons[iteration % len(self.lessons)]
        draw = generator(self.training.seed, self.name, iteration)
        episodes = draw.integers(len(lessons), size=self.batch)
        count = lessons.count[episodes]
        first = np.zeros_like(count) if self.k is None else np.maximum(count - self.k, 0)
        lesson = lessons.lesson(episodes, first, count, mirrored=draw.random() < mirror)
        journey = self.guide.walk(lesson, self._choose, copies=samples)
        worth = self._rewards(lessons, episodes, first, journey)
        expected = np.full_like(worth, worth.mean() if baseline is None else baseline)
        if config.baseline == "instruction":
            expected = np.repeat(worth.reshape(-1, samples).mean(axis=1), samples)
        loss = self._loss(journey, torch.from_numpy(worth - expected).float())
        report = {"loss": float(loss.detach()), "reward": float(worth.mean())}
        if config.imitation:
            # As many decisions again, so that what was learned from the expert is not lost.
            along = self.training.imitation.teacher == "path"
            taught, right = imitate(
                self.guide, lessons, self.teacher, self.batch * 2, 0.5, draw, mirror=mirror, along=along
            )
            loss = loss + config.imitation * taught
            report |= {"imitation": float(taught.detach()), "accuracy": right}
        return IterationResult(loss, report, float(worth.mean()))

    def _choose(self, decision: Decision, walkers: Tensor, viewpoints: Tensor, rows: Tensor) -> Tensor:  # noqa: ARG002
        return draw_action(decision.logits / self.config.temperature)

    def _loss(self, journey: RolloutResult, advantage: Tensor) -> Tensor:
        owner = torch.cat([moment.walkers for moment in journey.moments])
        # The policy is what was drawn from; who walks greedily walks alike at any temperature.
        logits = torch.cat([moment.decision.logits for moment in journey.moments]) / self.config.temperature
        actions = torch.cat([moment.actions for moment in journey.moments])
        chosen = logits.log_softmax(dim=1).gather(1, actions[:, None])[:, 0]
        worth = discounted(advantage[owner], decisions_left(owner), self.config.discount)
        loss = policy_gradient_loss(chosen, worth)
        return loss - self.config.entropy * entropy(logits) if self.config.entropy else loss

    def _rewards(
        self,
        lessons: EpisodeBatches,
        episodes: NDArray[np.int64],
        first: NDArray[np.int64],
        journey: RolloutResult,
    ) -> NDArray[np.float64]:
        """(B,) rewards of the whole paths: the expert's prefix and what was walked after it."""
        task = lessons.steps.task
        owner = np.repeat(np.arange(len(episodes)), self.config.samples)
        described = task.paths.take(task.chain_of(episodes))
        prefix = lessons.prefix(episodes, first)
        walked = concat_within_rows([prefix.take(owner), journey.viewpoints()[0]])
        return rewards(self.config.reward, task.houses, walked, described.take(owner))


def steps_of_some(
    count: NDArray[np.int64],  # (E,) steps of each episode
    batch: int,
    draw: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # (batch,) episodes and steps
    """All steps of some episodes, as the objective of section 4.2.1 adds them up; of the last, any that fit.

    Each is walked on its own, but what one is told and shown is the history of those after it, and needs to
    be encoded once.
    """
    episodes = draw.integers(len(count), size=batch)  # each has at least one step
    owner = np.repeat(np.arange(batch), count[episodes])
    step = np.arange(len(owner)) - starts(count[episodes])[owner]
    by_chance = np.lexsort((draw.random(len(owner)), owner))
    chosen = np.sort(by_chance[:batch])
    return episodes[owner[chosen]], step[chosen]


def training_stages(
    config: TrainingConfig,
    guide: Rollout,
    imitated: Sequence[EpisodeBatches],
    rewarded: Sequence[EpisodeBatches],
    teacher: Teacher,
) -> list[Stage]:
    """Imitation, then the lectures, or one of all steps; what has no iterations is left out."""
    reinforce = config.reinforce
    lectures: list[int | None] = [None] if reinforce.whole else list(range(1, reinforce.lectures + 1))
    stages: list[Stage] = [Imitation(guide, imitated, teacher, config)]
    stages += [Lecture(guide, rewarded, teacher, config, k) for k in lectures]
    return [stage for stage in stages if stage.iterations > 0]


def decisions_left(owner: Tensor) -> Tensor:
    """(B,) how many decisions of the same walker come after each, for decisions in the order of time."""
    order = torch.argsort(owner, stable=True)
    count = torch.bincount(owner)
    last = count.cumsum(0)[owner[order]] - 1
    left = torch.empty_like(owner)
    left[order] = last - torch.arange(len(owner))
    return left


def advice(lesson: EpisodeBatch, teacher: Teacher, *, along: bool) -> Callable[[Tensor, Tensor], Tensor]:
    """From viewpoints (B,) and the rows (B,) of the walkers' steps to the actions that the teacher shows."""
    if lesson.routes is None or lesson.goals is None:
        raise ValueError("a lesson without goals cannot be taught")
    if not along:
        goals = torch.from_numpy(lesson.goals)
        return lambda viewpoints, rows: teacher.towards(viewpoints, goals[rows]).long()
    routes = torch.from_numpy(lesson.routes.padded(fill=0).astype(np.int64))
    lengths = torch.from_numpy(lesson.routes.lengths)
    reached = torch.zeros_like(lengths)

    def next_of_route(viewpoints: Tensor, rows: Tensor) -> Tensor:
        due, reached[rows] = teacher.along(viewpoints, routes[rows], lengths[rows], reached[rows])
        actions: Tensor = due.long()
        return actions

    return next_of_route
