"""Reinforcement learning: the lectures of the curriculum, and plain policy gradient (section 4.2.2)."""

from __future__ import annotations

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
from babywalk.navigation.rewards import episode_rewards
from babywalk.training.imitation import imitate
from babywalk.training.losses import discounted, entropy, policy_gradient_loss
from babywalk.training.stage import IterationResult, Stage, TrainingSetup


class Lecture:
    """The last k Baby-Steps after the expert's prefix, with a reward for the whole path.

    With k of None all steps are walked: plain reinforcement learning.
    """

    def __init__(self, setup: TrainingSetup, k: int | None) -> None:
        self.rollout, self.teacher, self.training = setup.rollout, setup.teacher, setup.config
        self.tasks = setup.reinforcement_tasks
        self.config, self.k = setup.config.reinforce, k
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
        rewards = self._rewards(episodes, chosen, first, result)
        walker = torch.cat([record.walkers for record in result.records])
        advantage, seen = self._advantage(rewards, walker, baseline)
        loss = self._loss(result, advantage)
        report = {"loss": float(loss.detach()), "reward": float(rewards.mean())}
        if config.imitation:  # keeps what was learned from the expert
            imitation, accuracy = imitate(
                self.rollout,
                episodes,
                self.teacher,
                rng,
                size=2 * self.batch_size,
                teacher_share=0.5,
                mirror=mirror,
                along_path=self.training.imitation.teacher == "path",
            )
            loss = loss + config.imitation * imitation
            report |= {"imitation": float(imitation.detach()), "accuracy": accuracy}
        return IterationResult(loss, report, seen, len(walker) if config.baseline == "cumulative" else 0)

    def _advantage(
        self,
        rewards: NDArray[np.floating[Any]],  # (N,) of the walkers
        walker: Tensor,  # (B,) of each decision, in the order of time
        baseline: float | None,
    ) -> tuple[Tensor, float]:  # (B,), and the value that the next baseline takes in
        """The advantage of each decision: its reward, discounted by the decisions after it, minus the
        baseline.

        A cumulative baseline is subtracted from the discounted rewards, as in the authors' release; the other
        baselines from the rewards before they are discounted.
        """
        left, config = decisions_left(walker), self.config

        def of_decisions(values: NDArray[np.floating[Any]]) -> Tensor:
            by_walker = torch.as_tensor(values, device=walker.device).float()
            return discounted(by_walker[walker], left, config.discount)

        if config.baseline == "cumulative":
            returns = of_decisions(rewards)
            mean = float(returns.mean())
            return returns - (mean if baseline is None else baseline), mean
        expected = np.full_like(rewards, rewards.mean() if baseline is None else baseline)
        if config.baseline == "instruction":
            expected = np.repeat(rewards.reshape(-1, config.samples).mean(axis=1), config.samples)
        return of_decisions(rewards - expected), float(rewards.mean())

    def _loss(self, result: RolloutResult, advantage: Tensor) -> Tensor:
        logits = torch.cat([record.decision.logits for record in result.records]) / self.config.temperature
        actions = torch.cat([record.actions for record in result.records])
        log_probability = logits.log_softmax(dim=1).gather(1, actions[:, None])[:, 0]
        loss = policy_gradient_loss(log_probability, advantage)
        return loss - self.config.entropy * entropy(logits) if self.config.entropy else loss

    def _rewards(
        self,
        episodes: EpisodeBatches,
        chosen: NDArray[np.int64],
        first: NDArray[np.int64],
        result: RolloutResult,
    ) -> NDArray[np.floating[Any]]:
        """(B,) rewards of the whole paths: the expert's prefix and the walker's own suffix."""
        task = episodes.steps.task
        owner = np.repeat(np.arange(len(chosen)), self.config.samples)
        references = task.paths.take(task.chain_of(chosen))
        prefix = episodes.prefix(chosen, first)
        paths = concat_within_rows([prefix.take(owner), result.trajectories().viewpoints])
        return episode_rewards(self.config.reward, task.houses, paths, references.take(owner))


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
