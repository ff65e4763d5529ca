"""Imitation learning: single Baby-Steps after the expert's history (section 4.2.1 of the paper).

Agents that read whole instructions learn in the same way: their instruction is one step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
from babywalk.training.config import ImitationConfig, task_names
from babywalk.training.losses import imitation_loss, progress_loss, progress_target
from babywalk.training.stage import IterationResult, Loss, Stage, TrainingSetup


class Imitation:
    """Cross-entropy of the teacher's actions along the walkers' trajectories; with a progress monitor, also
    the error of its estimates.
    """

    def __init__(
        self, setup: TrainingSetup, name: str, config: ImitationConfig, tasks: Sequence[EpisodeBatches]
    ) -> None:
        self.rollout, self.teacher = setup.rollout, setup.teacher
        self.seed, self.mirror = setup.config.seed, setup.config.mirror
        self.name, self.config, self.tasks = name, config, tasks
        self.iterations = config.iterations
        self.learning_rate, self.weight_decay = config.learning_rate, config.weight_decay
        self.warm_up, self.decay_from = config.warm_up, config.decay_from
        self.clip, self.clip_apart = config.clip, config.clip_apart

    def iterate(self, iteration: int, baseline: float | None) -> IterationResult:  # noqa: ARG002
        """The losses of one batch of Baby-Steps."""
        config = self.config
        losses, accuracy = imitate(
            self.rollout,
            self.tasks[iteration % len(self.tasks)],
            self.teacher,
            generator(self.seed, self.name, iteration),
            size=config.batch,
            teacher_share=config.teacher_share,
            chain=config.chain,
            mirror=self.mirror,
            along_path=config.teacher == "path",
            progress=config.progress,
        )
        return IterationResult(losses, {"accuracy": accuracy})


def imitation_stages(setup: TrainingSetup) -> list[Stage]:
    """Imitation on the run's task and those of `imitation.mix`; no stage without iterations."""
    config = setup.config.imitation
    if not config.iterations:
        return []
    sizes = (setup.config.policy.step_size, *config.sizes)
    tasks = setup.episodes(["", *task_names(config.mix)], sizes)
    return [Imitation(setup, "imitation", config, tasks)]


def augmented_stages(setup: TrainingSetup) -> list[Stage]:
    """Imitation on paths that a speaker described, before that on human instructions (Fried et al. 2018)."""
    config = setup.config.augmented
    if not config.iterations:
        return []
    sizes = (setup.config.policy.step_size, *config.sizes)
    tasks = setup.episodes([f"r2r:{config.split}", *task_names(config.mix)], sizes)
    return [Imitation(setup, "augmented", config, tasks)]


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
    progress: float = 1.0,  # weight of the loss of a progress monitor, if the network has one
) -> tuple[dict[str, Loss], float]:
    """The losses of a batch of steps, and the fraction of decisions that agree with the teacher."""
    chosen, step = sample_steps(episodes.count, size, rng)
    last = np.minimum(step + 1 + (rng.random(size) * chain).astype(np.int64), episodes.count[chosen])
    forced = torch.as_tensor(rng.random(size) < teacher_share, device=rollout.device)
    batch = episodes.batch(chosen, step, last, mirrored=rng.random() < mirror)
    teacher_action = teacher_actions(batch, teacher, along_path=along_path, device=rollout.device)
    sample, targets, rows = Sample(), [], []

    def select(decision: Decision, walkers: Walkers) -> Tensor:
        target = teacher_action(walkers.poses.viewpoint, walkers.row)
        targets.append(target)
        rows.append(walkers.row)
        return torch.where(forced[walkers.index], target, sample(decision, walkers))

    records = rollout.run(batch, select).records
    logits = torch.cat([record.decision.logits for record in records])
    target = torch.cat(targets)
    accuracy = float((logits.argmax(dim=1) == target).float().mean())
    losses = {"imitation": Loss(imitation_loss(logits, target))}
    estimates = [record.decision.progress for record in records if record.decision.progress is not None]
    if estimates and progress:
        at = torch.cat([record.before.viewpoint for record in records])
        wanted = progress_along(batch, teacher, at, torch.cat(rows))
        losses["progress"] = Loss(progress_loss(torch.cat(estimates), wanted), progress)
    return losses, accuracy


def progress_along(batch: EpisodeBatch, teacher: Teacher, viewpoints: Tensor, rows: Tensor) -> Tensor:
    """(B,) the target of a progress monitor at viewpoints (B,), in steps given by their rows (B,)."""
    if batch.expert_paths is None:
        raise ValueError("episodes without goals have no progress")
    paths = batch.expert_paths
    start, goal = (
        torch.as_tensor(ends.astype(np.int64), device=rows.device)[rows]
        for ends in (paths.firsts, paths.lasts)
    )
    return progress_target(teacher.metres(viewpoints, goal), teacher.metres(start, goal))


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
