"""Fit the re-ranker of frontier search for a trained agent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import babywalk.common.needs_torch  # noqa: F401
from babywalk.agents.learned import LearnedAgent, batches_by_house
from babywalk.assets.data_directory import SPEAKER
from babywalk.assets.pretrained import built_in_models
from babywalk.commands.follow import load_agent, reranker_files
from babywalk.common.errors import ConfigError
from babywalk.common.files import sha256
from babywalk.common.progress import progress
from babywalk.decoding.best_first import Frontier
from babywalk.decoding.reranker import FEATURES, LinearReranker, feature_table, fit_weights
from babywalk.decoding.search import best_of_each
from babywalk.episodes.task import Task
from babywalk.evaluation.evaluate import check_goals
from babywalk.navigation.measures.pairs import THRESHOLD

_HELD_OUT = ("val_unseen", "test")


@dataclass(frozen=True, slots=True)
class Reranked:
    """A fitted re-ranker, and what it gives on the instructions that it was fitted on."""

    file: str
    decoding: str  # the search that it is for
    weights: dict[str, float]  # of the standardised features
    instructions: int
    candidates: float  # per instruction
    by_log_probability: float  # success rate of the most likely candidates
    by_reranker: float
    best_possible: float  # fraction of instructions that have a candidate that succeeds


def fit_reranker(
    model: Path,
    folder: Path,
    task: str,
    split: str,
    *,
    decode: str = "frontier",
    seed: int = 0,
    device: str = "auto",
) -> Reranked:
    """Fit the re-ranker of an agent on the candidates of a split that is not held out, and store it.

    Estimated progress and the speaker are features where the agent and the data directory have them.
    """
    if split.partition(":")[0] in _HELD_OUT:
        raise ConfigError(
            f"Split {split!r} is for results: nothing is fitted on it. Use val_seen, or a sample of train "
            "such as train:2000."
        )
    if str(model) in built_in_models():
        raise ConfigError(f"{model}: is part of the package. Fit the re-ranker of a run, or of a copy.")
    agent = load_agent(model, folder, device=device, decode=decode)
    if not isinstance(agent.decoder, Frontier) or not agent.decoder.reranked:
        raise ConfigError(
            f"Only full frontier search of whole instructions is re-ranked, not {decode}. "
            "Give --decode frontier, without short, per_step or rerank=false."
        )
    loaded = agent.dataset.task(task, split, seed=seed)
    check_goals(loaded)
    has_speaker = (agent.dataset.folder / SPEAKER).is_dir()
    if has_speaker:
        agent.add_speaker()
    instruction, table, success, features = _candidates(agent, agent.decoder, loaded, has_speaker=has_speaker)
    means, deviations, weights = fit_weights(table, instruction, success)
    file, weights_file = reranker_files(model)
    fitted = LinearReranker(
        features=features,
        means=tuple(means.tolist()),
        deviations=tuple(deviations.tolist()),
        weights=tuple(weights.tolist()),
        decoding=agent.decoding,
        task=task,
        split=split,
        instructions=len(loaded),
        model=sha256(weights_file),
    )
    fitted.save(file)
    chosen = {
        name: float(success[best_of_each(instruction, scores)].double().mean())
        for name, scores in (
            ("log_probability", table[:, features.index("log_probability_sum")]),
            ("reranker", (table - means) / deviations @ weights),
            ("best", success.double()),
        )
    }
    return Reranked(
        file=str(file),
        decoding=agent.decoding,
        weights=dict(zip(features, fitted.weights, strict=True)),
        instructions=len(loaded),
        candidates=len(table) / len(loaded),
        by_log_probability=chosen["log_probability"],
        by_reranker=chosen["reranker"],
        best_possible=chosen["best"],
    )


def _candidates(
    agent: LearnedAgent, decoder: Frontier, task: Task, *, has_speaker: bool
) -> tuple[Tensor, Tensor, Tensor, tuple[str, ...]]:
    """Of all candidates: the instruction, the features and whether it succeeds; names of the features."""
    batches, rollout = agent.batches(task), agent.rollout
    decoder = replace(decoder, known_map=True)  # the trajectories are not needed
    goals = task.paths.lasts[task.chain_of(np.arange(len(task)))]
    instruction, table, success = [], [], []
    features: tuple[str, ...] = FEATURES
    _, parts = batches_by_house(batches, np.arange(len(task)))
    for episodes in progress(parts, f"Searching {task.name} {task.split}", unit="batch"):
        with rollout.inference():
            *_, found = decoder.explore_whole(rollout, batches.full(episodes))
            features = tuple(
                name
                for name in FEATURES
                if (has_speaker or not name.startswith("speaker"))
                and (found.progress is not None or name != "progress")
            )
            owner = episodes[found.walker.cpu().numpy()]
            table.append(feature_table(found, rollout, features).cpu())
        instruction.append(torch.as_tensor(owner, device="cpu"))
        near = task.houses.distance(found.paths.lasts, goals[owner]) < THRESHOLD
        success.append(torch.as_tensor(near, device="cpu"))
    with torch.inference_mode(False):
        return torch.cat(instruction), torch.cat(table).clone(), torch.cat(success), features
