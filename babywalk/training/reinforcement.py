"""Reinforcement learning: the lectures of the curriculum, and plain policy gradient (section 4.2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from babywalk.common.ragged import concat_within_rows
from babywalk.common.seeding import generator
from babywalk.decoding.decoders import Sample
from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.decoding.rollout import RolloutResult
from babywalk.navigation.rewards import REWARDS, episode_rewards
from babywalk.navigation.world import start_poses
from babywalk.training.config import task_names
from babywalk.training.imitation import imitate
from babywalk.training.losses import discounted, entropy, policy_gradient_loss
from babywalk.training.stage import IterationResult, Loss, Stage, TrainingSetup

Floats = NDArray[np.floating[Any]]


class Lecture:
    """The last k Baby-Steps after the expert's prefix, with a reward for the whole path.

    With k of None all steps are walked: plain reinforcement learning.
    """

    def __init__(self, setup: TrainingSetup, k: int | None) -> None:
        self.rollout, self.teacher, self.training = setup.rollout, setup.teacher, setup.config
        self.config, self.k = setup.config.reinforce, k
        sizes = (setup.config.policy.step_size,)
        self.tasks = setup.episodes(["", *task_names(self.config.mix)], sizes)
        self.speaker = None
        if self.config.cycle:
            if setup.speaker is None:
                raise ValueError("the cycle reward needs a speaker")
            self.speaker = setup.speaker()
        self.name = "reinforce" if k is None else f"lecture {k}"
        self.batch_size = self.config.batches[-1 if k is None else k - 1]
        self.iterations = self.config.iterations
        self.learning_rate = self.config.learning_rate
        self.weight_decay = self.config.weight_decay
        self.warm_up, self.decay_from = self.config.warm_up, self.config.decay_from
        self.clip, self.clip_apart = self.config.clip, self.config.clip_apart

    def iterate(self, iteration: int, baseline: float | None) -> IterationResult:
        """The policy-gradient loss of sampled trajectories."""
        config, samples, mirror = self.config, self.config.samples, self.training.mirror
        episodes = self.tasks[iteration % len(self.tasks)]
        rng = generator(self.training.seed, self.name, iteration)
        chosen = rng.integers(len(episodes), size=self.batch_size)
        count = episodes.count[chosen]
        first = np.zeros_like(count) if self.k is None else np.maximum(count - self.k, 0)
        batch = episodes.batch(chosen, first, count, mirrored=rng.random() < mirror)
        result = self.rollout.run(batch, Sample(config.temperature), copies=samples)
        rewards, measured = self._rewards(episodes, chosen, first, result)
        walker = torch.cat([record.walkers for record in result.records])
        progress = self._returns_of_progress(rewards, result)
        advantage, seen = self._advantage(rewards, progress, walker, baseline)
        logits = torch.cat([record.decision.logits for record in result.records]) / config.temperature
        actions = torch.cat([record.actions for record in result.records])
        log_probability = logits.log_softmax(dim=1).gather(1, actions[:, None])[:, 0]
        losses = {"policy": Loss(policy_gradient_loss(log_probability, advantage))}
        if config.entropy:
            losses["entropy"] = Loss(entropy(logits), -config.entropy)
        if config.imitation:  # keeps what was learned from the expert
            imitated, measured["accuracy"] = imitate(
                self.rollout,
                episodes,
                self.teacher,
                rng,
                size=2 * self.batch_size,
                teacher_share=0.5,
                mirror=mirror,
                along_path=self.training.imitation.teacher == "path",
                progress=self.training.imitation.progress,
            )
            losses |= {
                name: Loss(loss.value, config.imitation * loss.weight) for name, loss in imitated.items()
            }
        return IterationResult(losses, measured, seen, len(walker) if config.baseline == "cumulative" else 0)

    def _advantage(
        self,
        rewards: Rewards,  # of N walkers
        progress: Tensor,  # (B,) see _returns_of_progress
        walker: Tensor,  # (B,) of each decision, in the order of time
        baseline: float | None,
    ) -> tuple[Tensor, float]:  # (B,), and the value that the next baseline takes in
        """The advantage of each decision: its return minus what was expected.

        The return is the discounted sum of later rewards. Expected are the metres that are left to the goal,
        if the reward counts them, and the baseline: the mean reward at the end, discounted like it. A
        cumulative baseline is not discounted, as in the authors' release.
        """
        config, left = self.config, decisions_left(walker)

        def at_the_end(values: Floats) -> Tensor:
            by_walker = torch.as_tensor(values, device=walker.device).float()
            return discounted(by_walker[walker], left, config.discount)

        if config.baseline == "cumulative":
            returns = progress + at_the_end(rewards.last)
            mean = float(returns.mean())
            return returns - (mean if baseline is None else baseline), mean
        mean = float(rewards.outcome.mean())
        expected = np.full_like(rewards.outcome, mean if baseline is None else baseline)
        if config.baseline == "instruction":
            expected = np.repeat(rewards.outcome.reshape(-1, config.samples).mean(axis=1), config.samples)
        return progress + at_the_end(rewards.last - expected), mean

    def _returns_of_progress(self, rewards: Rewards, result: RolloutResult) -> Tensor:
        """(B,) the discounted metres by which each decision and those after it approach the goal, minus the
        metres that are left before it; 0 for rewards that do not count progress.
        """
        if rewards.goals is None:
            return torch.zeros((), device=self.rollout.device)
        goals = torch.as_tensor(rewards.goals, device=self.rollout.device)
        total = torch.zeros(len(goals), dtype=self.teacher.length.dtype, device=goals.device)
        found = []
        for record in reversed(result.records):
            goal = goals[record.walkers]
            before = self.teacher.metres(record.before.viewpoint, goal)
            after = self.teacher.metres(record.after.viewpoint, goal)
            total[record.walkers] = before - after + self.config.discount * total[record.walkers]
            found.append(total[record.walkers] - before)
        return torch.cat(found[::-1])

    def _rewards(
        self,
        episodes: EpisodeBatches,
        chosen: NDArray[np.int64],
        first: NDArray[np.int64],
        result: RolloutResult,
    ) -> tuple[Rewards, dict[str, float]]:
        """The rewards of the whole paths: the expert's prefix and the walker's own suffix."""
        task = episodes.steps.task
        owner = np.repeat(np.arange(len(chosen)), self.config.samples)
        references = task.paths.take(task.chain_of(chosen)).take(owner)
        prefix = episodes.prefix(chosen, first)
        paths = concat_within_rows([prefix.take(owner), result.trajectories().viewpoints])
        total = episode_rewards(self.config.reward, task.houses, paths, references)
        measured = {"reward": float(total.mean())}
        if self.speaker is not None:
            views = start_poses(task, chosen).view[owner]
            texts = self.speaker.translated(episodes.instructions(chosen), episodes.vocabulary)
            cycle = self.speaker.log_probabilities(paths, views, texts.take(owner)).per_word
            total = total + self.config.cycle * cycle
            measured["cycle"] = float(cycle.mean())
        if not REWARDS[self.config.reward].progress:
            return Rewards(last=total, outcome=total, goals=None), measured
        starts, goals = references.firsts.astype(np.int64), references.lasts.astype(np.int64)
        ends = paths.lasts.astype(np.int64)
        left = task.houses.distance(ends, goals)
        last = total - (task.houses.distance(starts, goals) - left)
        return Rewards(last=last, outcome=last - left, goals=goals), measured


@dataclass(frozen=True, slots=True, eq=False)
class Rewards:
    """What N walkers get for their whole paths."""

    last: Floats  # (N,) at the end
    outcome: Floats  # (N,) the same, minus the metres that are left to the goal if the reward counts them
    goals: NDArray[np.int64] | None  # (N,) for rewards that count the progress of every step, else None


def reinforcement_stages(setup: TrainingSetup) -> list[Stage]:
    """The lectures in order, or one stage of plain reinforcement learning; none without iterations."""
    config = setup.config.reinforce
    lectures: list[int | None] = [None] if config.whole else list(range(1, config.lectures + 1))
    return [Lecture(setup, k) for k in lectures] if config.iterations else []


def decisions_left(walker: Tensor) -> Tensor:
    """(B,) how many decisions of the same walker (B,) come after each, for decisions in the order of time."""
    order = torch.argsort(walker, stable=True)
    count = torch.bincount(walker)
    last = count.cumsum(0)[walker[order]] - 1
    left = torch.empty_like(walker)
    left[order] = last - torch.arange(len(walker), device=walker.device)
    return left
