"""Train an agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch

import babywalk.common.needs_torch  # noqa: F401
from babywalk.agents.learned import LearnedAgent
from babywalk.agents.recipe import Recipe, read_recipe, run_settings
from babywalk.agents.table import AGENTS
from babywalk.assets.pretrained import find_model
from babywalk.buildings.features import BLIND, open_features, sources
from babywalk.common.config import merged
from babywalk.common.errors import ConfigError
from babywalk.common.files import exclusive_lock, signed, write_json
from babywalk.common.progress import log_line
from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.decoding.rollout import Rollout
from babywalk.episodes.dataset import Dataset
from babywalk.evaluation.evaluate import check_goals, evaluate, walk_all
from babywalk.instructions.store import UNALIGNED, aligned_steps
from babywalk.modules.device import choose_device
from babywalk.modules.model import Model, load_mean, load_model, new_model
from babywalk.modules.speaker import open_speaker
from babywalk.navigation.observation import observer_for
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.world import World
from babywalk.training.checkpoint import Progress
from babywalk.training.config import TrainingConfig
from babywalk.training.loop import Trainer
from babywalk.training.run_config import refuse_changes, write_run_config
from babywalk.training.stage import TrainingSetup
from babywalk.training.versions import versions

RESULT = "result.json"  # written when a run finishes


def train_agent(
    name: str | None,
    folder: Path,
    run: Path,
    *,
    task: str | None = None,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    recipe: Path | None = None,
    resume: bool = False,
) -> Progress:
    """Train an agent; the run directory contains its settings, log, checkpoints and model.

    Settings that are not given are those of the recipe, then the agent, then the preset.
    """
    asked = _recipe(name, recipe)
    over = merged({"task": task} if task else {}, settings or {})
    chosen = run_settings(asked, run, preset, over, resume)
    config, name = chosen.config, asked.agent
    if config.threads:
        torch.set_num_threads(config.threads)
    dataset = Dataset(folder)
    # Stored with the run, so that it resumes in the same way: the first source changes when others are
    # imported, and the default number of threads with the load of the machine.
    features = config.features or next(iter(sources(folder)), BLIND)
    config = replace(config, features=features, threads=config.threads or torch.get_num_threads())
    device = choose_device(config.device)
    observer = observer_for(features, dataset, gain=config.policy.feature_gain, device=str(device))
    model = new_model(
        config.policy,
        dataset.vocabulary(),
        dataset.word_vectors(),
        features=features,
        view_width=observer.view_width,
        action_width=observer.candidate_width,
        columns=open_features(folder, features, dataset.houses).columns,
        seed=config.seed,
        device=device,
    )
    model.facts.update(agent=name, task=config.task, seed=config.seed)
    if config.init_from:
        before = {Path(other): _initial_model(other) for other in config.init_from.split(",")}
        load_mean(model, before)
        model.facts["init_from"] = [other.facts for other in before.values()]
    episodes = TrainingEpisodes(dataset, config, model)
    model.facts["alignment"] = episodes.alignment()
    if model.facts["alignment"] == UNALIGNED and config.policy.steps != "whole":
        log_line(
            f"{config.task} train is not aligned: steps are taken to end in proportion to their words. "
            f"Better: babywalk data align {config.task} --data {folder}"
        )
    setup = TrainingSetup(
        config=config,
        rollout=Rollout(model.network, observer, kernels=config.kernels),
        teacher=Teacher.of(dataset.houses).to(device),
        episodes=episodes,
        speaker=partial(open_speaker, dataset, device=str(device)),
    )
    stages = AGENTS[name].training_stages(setup)
    validation = dataset.task(config.task, config.validate_on)
    check_goals(validation)
    agent = LearnedAgent(model, dataset, device=str(device), kernels=config.kernels)

    def evaluate_now() -> dict[str, float]:
        return evaluate(validation, walk_all(agent, validation)).scores.means()

    trainer = Trainer(run, model, stages, config, evaluate_now)
    with exclusive_lock(run):
        if resume:
            # These checks come before anything is written.
            _check_can_resume(run, trainer)
            trainer.resume()
            _check_changes(run, chosen.changed, trainer)
        write_run_config(
            run, agent=name, recipe=chosen.recipe, preset=chosen.preset, data=folder, config=config
        )
        write_json(run / "versions.json", signed(versions()))
        done = trainer.run_all()
        write_json(run / RESULT, signed(asdict(done)))
    return done


def _initial_model(name: str) -> Model:
    """A model to start from."""
    if find_model(name) is None:
        raise ConfigError(f"init_from = {name!r} is not a run or a model. Train it first, or leave it out.")
    return load_model(Path(name))


class TrainingEpisodes:
    """The episodes that stages ask for, each loaded once: see `TrainingSetup.episodes`."""

    def __init__(self, dataset: Dataset, config: TrainingConfig, model: Model) -> None:
        self.dataset, self.config, self.vocabulary = dataset, config, model.vocabulary
        self.world = World.of(dataset.houses)
        self._task, self._episodes = cache(dataset.task), cache(self._load)

    def __call__(self, names: Sequence[str], sizes: Sequence[int]) -> list[EpisodeBatches]:
        """Of tasks, TASK or TASK:SPLIT, each in steps of these sizes; an empty name is the run's task."""
        return [self._episodes(name, size)[0] for size in sizes for name in names]

    def alignment(self) -> str:
        """How the steps of the run's task were aligned with paths."""
        return self._episodes("", self.config.policy.step_size)[1]

    def _load(self, name: str, size: int) -> tuple[EpisodeBatches, str]:
        name, _, split = (name or self.config.task).partition(":")
        split = split or "train"
        if split != "train" and split not in self.dataset.splits:
            raise ConfigError(
                f"{self.dataset.folder}: has no split {split!r} to learn from. "
                f"Make it with: babywalk data augment --data {self.dataset.folder} --split {split}"
            )
        task = self._task(name, split)
        if not task.walks.has_goals:
            raise ConfigError(f"{name} {split} has no goals to learn from. Choose another split.")
        if not len(task):
            raise ConfigError(f"{name} {split} has no episodes to learn from. Choose another split.")
        policy = replace(self.config.policy, step_size=size)
        steps, method = aligned_steps(self.dataset, task, policy.segmentation)
        return EpisodeBatches.of(steps, self.world, self.vocabulary, policy), method


def _recipe(name: str | None, file: Path | None) -> Recipe:
    """The recipe in a file, or that of an agent by its name; with both, the agents must agree."""
    if file is None:
        if name is None:
            raise ConfigError(
                f"No agent is given. Name one of {', '.join(AGENTS)}, or give --config FILE.toml."
            )
        return Recipe(name)
    found = read_recipe(file)
    if name not in (None, found.agent):
        raise ConfigError(
            f"{file}: is a recipe for {found.agent!r}, not for {name!r}. Leave one of them out."
        )
    return found


def _check_can_resume(run: Path, trainer: Trainer) -> None:
    """Refuse a finished run without a checkpoint; an unfinished one without a checkpoint starts again."""
    if trainer.last.exists():
        return
    if (run / RESULT).exists():
        raise ConfigError(
            f"{run}: has finished and cannot be resumed: its checkpoint {trainer.last.name} is missing. "
            f"Start another run from its model with --set init_from={run}."
        )
    log_line(f"{run}: has no checkpoint yet and starts again.")


def _check_changes(run: Path, changed: Sequence[str], trainer: Trainer) -> None:
    """Refuse changed settings of stages that are finished."""
    if not trainer.remaining:
        refuse_changes(run, changed)
    for stage in trainer.progress.bests:
        refuse_changes(run, [name for name in changed if name.startswith(f"{stage}.")])
