"""Learned agents: a model that walks the episodes of a task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import torch

from babywalk.agents.agent import Index
from babywalk.agents.follow import Followed, follow
from babywalk.buildings.features import open_features
from babywalk.common.errors import DataError, shortlist
from babywalk.common.ragged import Ragged, concat_rows
from babywalk.decoding.episode_batch import EpisodeBatch, EpisodeBatches
from babywalk.decoding.rollout import ActionSelector, Rollout, greedy
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.store import identified
from babywalk.modules.kernels.product_cache import ProductCache
from babywalk.modules.model import Model
from babywalk.navigation.observation import ORIENTATION, Observer
from babywalk.navigation.trajectories import Trajectories
from babywalk.navigation.world import World

_BATCH = 2048  # walkers at a time: many meet at a viewpoint, and few walk alone when most have arrived


class LearnedAgent:
    """Cuts each instruction by what it says alone, and walks it step by step.

    `step_size` tells it steps of another size than it was made for, also if it reads instructions whole.
    """

    def __init__(self, model: Model, dataset: Dataset, *, step_size: int | None = None) -> None:
        self.model = model
        self.config = model.config
        if step_size is not None:
            steps = "template" if self.config.steps == "whole" else self.config.steps
            self.config = replace(self.config, steps=steps, step_size=step_size)
        self.dataset = dataset
        self.observer = observer_for(model.features, dataset, gain=model.config.feature_gain)
        check_features(model, self.observer, dataset)
        self.guide = Rollout(model.network, self.observer)
        self._lessons: dict[int, EpisodeBatches] = {}

    def lessons(self, task: Task) -> EpisodeBatches:
        """A task as this agent takes it."""
        if id(task) not in self._lessons:
            steps = identified(self.dataset, task, self.config.cut)
            world = World.of(self.dataset.houses)
            self._lessons = {id(task): EpisodeBatches.of(steps, world, self.model.vocabulary, self.config)}
        return self._lessons[id(task)]

    def follow(self, house: str, viewpoint: str, heading: float, instruction: str) -> Followed:
        """Follow an instruction that somebody types; see `Followed` for what comes back.

        The heading is in radians from -2 pi to 2 pi, 0 north and growing clockwise.
        """
        return follow(self.model, self.guide, self.dataset.houses, house, viewpoint, heading, instruction)

    def walk(self, task: Task, episodes: Index) -> Trajectories:
        """The best action at every step."""
        return walk_lessons(self.guide, self.lessons(task), episodes, greedy)

    def walk_steps(self, steps: BabySteps, episodes: Index, numbers: Index) -> Trajectories:
        """One aligned step of each episode, after the expert's; who reads instructions whole reads it so."""
        config = replace(self.model.config, steps="template")
        lessons = EpisodeBatches.of(steps, World.of(self.dataset.houses), self.model.vocabulary, config)
        return Trajectories(*_walked(self.guide, [lessons.lesson(episodes, numbers, numbers + 1)], greedy)[0])


def walk_lessons(
    guide: Rollout, lessons: EpisodeBatches, episodes: Index, choose: ActionSelector
) -> Trajectories:
    """Walk all steps of episodes without learning from it.

    Episodes of one house are walked together: their walkers meet, and what they see is read once for all.
    """
    houses = lessons.steps.task.houses
    home = houses.house_of[lessons.steps.task.paths.firsts[lessons.steps.task.chain_of(episodes)]]
    order = np.argsort(home, kind="stable")
    batches = np.array_split(order, -(-len(order) // _BATCH))
    walked = _walked(guide, (lessons.whole(episodes[some]) for some in batches), choose)
    back = np.argsort(order)
    viewpoints, views = (concat_rows(pieces).take(back) for pieces in zip(*walked, strict=True))
    return Trajectories(viewpoints, views)


def _walked(
    guide: Rollout, lessons: Iterable[EpisodeBatch], choose: ActionSelector
) -> list[tuple[Ragged, Ragged]]:
    """The viewpoints and views of walks, without dropout and gradients."""
    network = guide.network
    training = network.training
    network.eval()
    album = ProductCache()  # batches of one house meet the same views
    with torch.inference_mode():
        walked = [guide.walk(lesson, choose, album=album).viewpoints() for lesson in lessons]
    network.train(training)
    return walked


def observer_for(spec: str, dataset: Dataset, *, gain: float = 1.0) -> Observer:
    """What walkers see under a feature spec, as torch tensors; `gain` times as loud."""
    features = open_features(dataset.folder, spec, dataset.houses)
    return Observer.of(World.of(dataset.houses), features).to("cpu").scaled(gain)


def check_features(model: Model, observer: Observer, dataset: Dataset) -> None:
    """A model sees only features of the widths, and of the names if they have any, that it learned from."""
    folder = dataset.folder
    if (observer.view_width, observer.candidate_width) != (model.view_width, model.action_width):
        raise DataError(
            f"The model was trained on features {model.features!r} of {model.view_width - ORIENTATION} "
            f"numbers per view; those of {folder} have {observer.view_width - ORIENTATION}. "
            "Name the data that it was trained on, or train an agent on these."
        )
    found = open_features(folder, model.features, dataset.houses).columns
    others = [
        f"{own!r} ({other!r} here)" for own, other in zip(model.columns, found, strict=False) if own != other
    ]
    if others:
        raise DataError(
            f"The model was trained on features {model.features!r} with the columns {shortlist(others)}. "
            "Name the data that it was trained on, or train an agent on these."
        )
