"""Load a trained agent, and follow a typed instruction."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import babywalk.common.needs_torch  # noqa: F401
from babywalk.agents.follow import Followed
from babywalk.agents.learned import LearnedAgent
from babywalk.assets.pretrained import find_model
from babywalk.commands.draw import draw_in_house
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import sha256
from babywalk.decoding.decoders import Sample
from babywalk.decoding.reranker import RERANKER, LinearReranker, read_reranker
from babywalk.decoding.specs import decoder_of
from babywalk.episodes.dataset import Dataset
from babywalk.evaluation.figures.house import Trajectory
from babywalk.modules.model import load_model
from babywalk.training.run_config import read_run_config, run_of


def follow_instruction(
    model: Path,
    folder: Path | None,
    house: str,
    viewpoint: str,
    degrees: float,
    instruction: str,
    *,
    picture: Path | None = None,
    device: str = "auto",
    decode: str | None = None,
) -> Followed:
    """Follow an instruction with a trained agent; with `picture`, draw the trajectory."""
    agent = load_agent(model, folder, device=device, decode=decode)
    found = agent.follow(house, viewpoint, float(np.radians(degrees)), instruction)
    if picture:
        numbers = agent.dataset.houses.viewpoints(house)
        ends = [0] * len(found.steps)
        moved = 0
        for move in found.moves:
            moved += move.to is not None
            ends[move.step] = moved
        walked_back = moved + 1 < len(found.path)  # then the moves are not all of the path
        path = tuple(numbers[name] for name in found.path)
        walked = Trajectory("agent", path, () if walked_back else tuple(ends))
        draw_in_house(agent.dataset, house, [walked], picture, title=house, instruction=instruction)
    return found


def load_agent(
    model: Path,
    folder: Path | None,
    *,
    step_size: int | None = None,
    device: str = "auto",
    kernels: str = "auto",
    decode: str | None = None,
    seed: int | None = None,
) -> LearnedAgent:
    """A trained agent in the houses of a data directory, by default that of its run.

    `decode` is a decoder with its settings, as in "frontier:candidates=20", by default the agent's own;
    `seed` is for one that samples.
    """
    if find_model(model) is None:
        raise ConfigError(f"{model}: is neither a run nor a model. Train one, or check the name.")
    decoder = None if decode is None else decoder_of(decode)
    if isinstance(decoder, Sample) and decoder.seed is None:
        decoder = replace(decoder, seed=seed)
    if folder is None:
        run = run_of(model)
        if run is None:
            raise ConfigError(f"{model}: does not name the data it was trained on. Give a data directory.")
        folder = read_run_config(run).data
    return LearnedAgent(
        load_model(model),
        Dataset(folder),
        step_size=step_size,
        device=device,
        kernels=kernels,
        decoder=decoder,
        reranker=_reranker(model),
    )


def reranker_files(model: Path) -> tuple[Path, Path]:
    """The file of a model's re-ranker, which is beside the model file, and the model file."""
    found = find_model(model) or model
    file = found if found.is_file() else found / "model.safetensors"
    return file.parent / RERANKER, file


def _reranker(model: Path) -> LinearReranker | None:
    """The re-ranker that was fitted for a model; None if there is none."""
    file, weights = reranker_files(model)
    if not file.is_file():
        return None
    found = read_reranker(file)
    if weights.is_file() and found.model != sha256(weights):
        raise DataError(
            f"{file}: was fitted for other weights than those of {weights}. Delete it, or fit it again with "
            "'babywalk rerank'."
        )
    return found
