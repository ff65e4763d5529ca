"""Learned agents: a trained model in the houses of a data directory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from babywalk.agents.agent import Index
from babywalk.agents.follow import Followed, follow
from babywalk.agents.table import AGENTS
from babywalk.buildings.features import open_features
from babywalk.common.errors import DataError, shortlist
from babywalk.common.ragged import Ragged, concat_rows
from babywalk.decoding.best_first import Frontier
from babywalk.decoding.decoders import Decoder, Greedy
from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.decoding.reranker import LinearReranker
from babywalk.decoding.rollout import Rollout
from babywalk.decoding.search import Search
from babywalk.decoding.specs import spec_of
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.store import identify_steps
from babywalk.modules.device import choose_device
from babywalk.modules.model import Model
from babywalk.modules.speaker import TextScores, open_speaker
from babywalk.navigation.observation import ORIENTATION, Observer, observer_for
from babywalk.navigation.trajectories import Trajectories
from babywalk.navigation.world import World

_BATCH = 2048  # walkers at a time: in large batches many share a viewpoint


class LearnedAgent:
    """Segments each instruction by its text alone, and walks its steps one by one.

    `decoder` replaces that of the agent's definition, and `reranker` is for frontier search. `step_size`
    replaces the step size that the model was trained with, also if it reads instructions whole.
    """

    def __init__(
        self,
        model: Model,
        dataset: Dataset,
        *,
        step_size: int | None = None,
        device: str = "auto",
        kernels: str = "auto",
        decoder: Decoder | None = None,
        reranker: LinearReranker | None = None,
    ) -> None:
        self.model = model
        self.config = model.config
        if step_size is not None:
            steps = "template" if self.config.steps == "whole" else self.config.steps
            self.config = replace(self.config, steps=steps, step_size=step_size)
        self.dataset = dataset
        where = choose_device(device)
        model.network.to(where)
        self.observer = observer_for(
            model.features, dataset, gain=model.config.feature_gain, device=str(where)
        )
        check_features(model, self.observer, dataset)
        self.rollout = Rollout(model.network, self.observer, kernels=kernels)
        definition = AGENTS.get(str(model.facts.get("agent")))
        self.decoder = decoder or (definition.decoder if definition else Greedy())
        reranks = isinstance(self.decoder, Frontier) and self.decoder.reranked
        self.rollout.reranker = reranker if reranks else None
        if (isinstance(self.decoder, Search) and self.decoder.needs_speaker) or (
            reranks and reranker is not None and reranker.needs_speaker
        ):
            self.add_speaker()
        self._batches: dict[int, EpisodeBatches] = {}

    @property
    def decoding(self) -> str:
        """The decoder and its settings."""
        return spec_of(self.decoder)

    @property
    def known_map(self) -> bool:
        """Whether it searches with the graph of the house."""
        return isinstance(self.decoder, Search) and self.decoder.known_map

    def batches(self, task: Task) -> EpisodeBatches:
        """The episodes of a task, segmented for this agent."""
        if id(task) not in self._batches:
            steps = identify_steps(self.dataset, task, self.config.segmentation)
            world = World.of(self.dataset.houses)
            self._batches = {id(task): EpisodeBatches.of(steps, world, self.model.vocabulary, self.config)}
        return self._batches[id(task)]

    def follow(self, house: str, viewpoint: str, heading: float, instruction: str) -> Followed:
        """Follow a typed instruction.

        The heading is in radians from -2 pi to 2 pi, 0 north and growing clockwise.
        """
        houses = self.dataset.houses
        return follow(self.model, self.rollout, self.decoder, houses, house, viewpoint, heading, instruction)

    def walk(self, task: Task, episodes: Index) -> Trajectories:
        """One trajectory per episode."""
        return walk_episodes(self.rollout, self.batches(task), episodes, self.decoder)

    def walk_steps(self, steps: BabySteps, episodes: Index, numbers: Index) -> Trajectories:
        """One aligned step per episode after the expert's history, also by agents that read texts whole."""
        config = replace(self.model.config, steps="template")
        batches = EpisodeBatches.of(steps, World.of(self.dataset.houses), self.model.vocabulary, config)
        with self.rollout.inference():
            return self.decoder.decode(self.rollout, batches.batch(episodes, numbers, numbers + 1))

    def add_speaker(self) -> None:
        """Let search decoders use the speaker of the data directory."""
        speaker = open_speaker(self.dataset, device=str(self.rollout.device))

        def score(paths: Ragged, start_views: NDArray[np.int64], instructions: Ragged) -> TextScores:
            texts = speaker.translated(instructions, self.model.vocabulary)
            return speaker.log_probabilities(paths, start_views, texts)

        self.rollout.speaker = score


def walk_episodes(
    rollout: Rollout, batches: EpisodeBatches, episodes: Index, decoder: Decoder
) -> Trajectories:
    """Walk all steps of episodes, without gradients; episodes of a house go into the same batches."""
    order, parts = batches_by_house(batches, episodes)
    with rollout.inference():
        walked = decoder.decode_all(rollout, [batches.full(some) for some in parts])
    back = np.argsort(order)
    return Trajectories(
        concat_rows([part.viewpoints for part in walked]).take(back),
        concat_rows([part.views for part in walked]).take(back),
    )


def batches_by_house(batches: EpisodeBatches, episodes: Index) -> tuple[Index, list[Index]]:
    """The order of episodes by house, and the episodes in that order, in batches."""
    task = batches.steps.task
    house = task.houses.house_of[task.paths.firsts[task.chain_of(episodes)]]
    order = np.argsort(house, kind="stable")
    return order, np.array_split(episodes[order], -(-len(order) // _BATCH))


def check_features(model: Model, observer: Observer, dataset: Dataset) -> None:
    """Refuse features of other sizes or names than those that the model was trained on."""
    folder = dataset.folder
    if (observer.view_width, observer.candidate_width) != (model.view_width, model.action_width):
        raise DataError(
            f"The model was trained on features {model.features!r} of size "
            f"{model.view_width - ORIENTATION} per view; those of {folder} have size "
            f"{observer.view_width - ORIENTATION}. "
            "Use the data that it was trained on, or train an agent on these."
        )
    found = open_features(folder, model.features, dataset.houses).columns
    others = [
        f"{own!r} ({other!r} here)" for own, other in zip(model.columns, found, strict=False) if own != other
    ]
    if others:
        raise DataError(
            f"The model was trained on features {model.features!r} with the columns {shortlist(others)}. "
            "Use the data that it was trained on, or train an agent on these."
        )
