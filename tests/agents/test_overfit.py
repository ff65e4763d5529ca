"""Every agent can learn: on eight episodes of the Dollhouse it reaches the goal of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from babywalk.agents.learned import LearnedAgent
from babywalk.agents.recipe import Recipe
from babywalk.agents.table import AGENTS
from babywalk.buildings.features import open_features
from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.episodes.dataset import Dataset
from babywalk.evaluation.evaluate import evaluate
from babywalk.instructions.store import aligned_steps
from babywalk.modules.model import new_model
from babywalk.navigation.observation import observer_for
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.world import World
from babywalk.training.optimisation import gradient_step, learning_rate_factor, new_optimiser
from babywalk.training.stage import TrainingSetup

SETTINGS: dict[str, Any] = {
    "policy": {"hidden": 48, "action": 32},
    "augmented": {"iterations": 40, "batch": 8},
    "imitation": {"iterations": 150, "batch": 16, "learning_rate": 5e-3, "teacher_share": 0.5},
    "reinforce": {"iterations": 4, "batches": [4, 4, 4, 4], "learning_rate": 1e-4, "lectures": 2},
}


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_overfits_eight_episodes(name: str, aligned_dollhouse: Path) -> None:
    dataset = Dataset(aligned_dollhouse)
    task = dataset.task("r2r", "val_seen:8")
    config = Recipe(name).config(preset="tiny", over=SETTINGS)
    spec = "dollhouse"
    observer = observer_for(spec, dataset)
    vocabulary = dataset.vocabulary()
    sizes = {"view_width": observer.view_width, "action_width": observer.candidate_width}
    columns = open_features(dataset.folder, spec, dataset.houses).columns
    model = new_model(config.policy, vocabulary, None, features=spec, columns=columns, seed=0, **sizes)
    model.facts["agent"] = name
    steps, _ = aligned_steps(dataset, task, config.policy.segmentation)
    batches = EpisodeBatches.of(steps, World.of(dataset.houses), vocabulary, config.policy)
    agent = LearnedAgent(model, dataset, device="cpu")
    teacher = Teacher.of(dataset.houses).to("cpu")
    setup = TrainingSetup(config, agent.rollout, teacher, lambda *_: [batches])
    model.network.train()
    for stage in AGENTS[name].training_stages(setup):
        optimiser = new_optimiser(model.network, stage)
        for iteration in range(stage.iterations):
            torch.manual_seed(iteration)
            for group in optimiser.param_groups:
                group["lr"] = stage.learning_rate * learning_rate_factor(stage, iteration)
            gradient_step(model.network, optimiser, stage.iterate(iteration, 0.5).loss, stage.clip)
    model.network.eval()
    scores = evaluate(task, agent.walk(task, np.arange(len(task)))).scores
    assert scores.means()["SR"] == 1.0
