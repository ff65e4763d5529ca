"""Imitation learning: single Baby-Steps after the expert's history (section 4.2.1 of the paper)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from babywalk.common.ragged import starts
from babywalk.common.seeding import generator
from babywalk.decoding.decoders import Sample
from babywalk.decoding.episode_batch import EpisodeBatch, EpisodeBatches
from babywalk.decoding.rollout import Rollout, Walkers
from babywalk.modules.decoder import Decision
from babywalk.navigation.teacher import Teacher
from babywalk.training.losses import imitation_loss
from babywalk.training.stage import IterationResult, Stage, TrainingSetup


class Imitation:
    """Cross-entropy of the teacher's actions along the walkers' trajectories."""

    name = "imitation"

    def __init__(self, setup: TrainingSetup) -> None:
        config = setup.config
        self.rollout, self.teacher, self.config = setup.rollout, setup.teacher, config
        self.tasks = setup.imitation_tasks
        self.iterations = config.imitation.iterations
        self.learning_rate = config.imitation.learning_rate
        self.weight_decay = config.imitation.weight_decay
        self.warm_up, self.decay_from = config.imitation.warm_up, config.imitation.decay_from
        self.clip, self.clip_apart = config.imitation.clip, config.imitation.clip_apart

    def iterate(self, iteration: int, baseline: float | None) -> IterationResult:  # noqa: ARG002
        """The loss of one batch of Baby-Steps."""
        rng = generator(self.config.seed, self.name, iteration)
        config = self.config.imitation
        loss, accuracy = imitate(
            self.rollout,
            self.tasks[iteration % len(self.tasks)],
            self.teacher,
            rng,
            size=config.batch,
            teacher_share=config.teacher_share,
            chain=config.chain,
            mirror=self.config.mirror,
            along_path=config.teacher == "path",
        )
        return IterationResult(loss, {"loss": float(loss.detach()), "accuracy": accuracy})


def imitation_stages(setup: TrainingSetup) -> list[Stage]:
    """One stage, or none without iterations."""
    return [Imitation(setup)] if setup.config.imitation.iterations else []


def imitate(
    rollout: Rollout,
    episodes: EpisodeBatches,
    teacher: Teacher,
    rng: np.random.Generator,
    *,
    size: int,  # Baby-Steps
    teacher_share: float,  # fraction of walkers that follow the teacher; the others sample
    chain: int = 1,  # up to so many steps in a row: chained steps teach recovery from errors
    mirror: float = 0.0,  # probability of a mirrored batch
    along_path: bool = False,  # whether the teacher follows the expert's path, not the shortest one
) -> tuple[Tensor, float]:
    """The imitation loss of a batch of steps, and the fraction of decisions that agree with the teacher."""
    chosen, step = sample_steps(episodes.count, size, rng)
    last = np.minimum(step + 1 + (rng.random(size) * chain).astype(np.int64), episodes.count[chosen])
    forced = torch.as_tensor(rng.random(size) < teacher_share, device=rollout.device)
    batch = episodes.batch(chosen, step, last, mirrored=rng.random() < mirror)
    teacher_action = teacher_actions(batch, teacher, along_path=along_path, device=rollout.device)
    sample, targets = Sample(), []

    def select(decision: Decision, walkers: Walkers) -> Tensor:
        target = teacher_action(walkers.poses.viewpoint, walkers.row)
        targets.append(target)
        return torch.where(forced[walkers.index], target, sample(decision, walkers))

    records = rollout.run(batch, select).records
    logits = torch.cat([record.decision.logits for record in records])
    target = torch.cat(targets)
    accuracy = float((logits.argmax(dim=1) == target).float().mean())
    return imitation_loss(logits, target), accuracy


def sample_steps(
    count: NDArray[np.int64],  # (E,) steps of each episode
    size: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # (size,) episodes and steps
    """All steps of random episodes, as in the objective of section 4.2.1; of the last episode, any that fit.

    Each is walked on its own, but a step of an episode is history of the later ones, and is encoded only
    once.
    """
    episodes = rng.integers(len(count), size=size)  # each has at least one step
    owner = np.repeat(np.arange(size), count[episodes])
    step = np.arange(len(owner)) - starts(count[episodes])[owner]
    shuffled = np.lexsort((rng.random(len(owner)), owner))
    chosen = np.sort(shuffled[:size])
    return episodes[owner[chosen]], step[chosen]


def teacher_actions(
    batch: EpisodeBatch, teacher: Teacher, *, along_path: bool, device: torch.device
) -> Callable[[Tensor, Tensor], Tensor]:
    """A function from viewpoints (B,) and the walkers' rows of instructions (B,) to the teacher's actions."""
    if batch.expert_paths is None or batch.goals is None:
        raise ValueError("episodes without goals have no teacher")
    if not along_path:
        goals = torch.as_tensor(batch.goals, device=device)
        return lambda viewpoints, rows: teacher.towards(viewpoints, goals[rows]).long()
    paths = torch.as_tensor(batch.expert_paths.padded(fill=0).astype(np.int64), device=device)
    lengths = torch.as_tensor(batch.expert_paths.lengths, device=device)
    reached = torch.zeros_like(lengths)

    def next_on_path(viewpoints: Tensor, rows: Tensor) -> Tensor:
        due, reached[rows] = teacher.along(viewpoints, paths[rows], lengths[rows], reached[rows])
        actions: Tensor = due.long()
        return actions

    return next_on_path
