"""Data augmentation: let a speaker describe sampled paths, as a split to train on."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import babywalk.common.needs_torch  # noqa: F401
from babywalk.agents.agent import Agent
from babywalk.assets.data_directory import CACHE, MANIFEST, SPEAKER
from babywalk.assets.r2r import SPLITS, r2r_file
from babywalk.commands.follow import load_agent
from babywalk.commands.speaker import prepared_speaker
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import check_signed, exclusive_lock, read_json, sha256, signed, write_json
from babywalk.common.fitting import one_thread
from babywalk.common.ragged import Ragged
from babywalk.episodes.augmentation import check_split, described_walks, sample_paths, save_split
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.joining import TASKS
from babywalk.episodes.task import join_task
from babywalk.episodes.walks import Walks
from babywalk.evaluation.evaluate import evaluate, walk_all
from babywalk.modules.speaker import Speaker
from babywalk.navigation.world import poses_at


@dataclass(frozen=True, slots=True)
class AugmentedSplit:
    """A split of walks that a speaker described."""

    split: str
    walks: int
    sampled: int  # before those that the follower did not walk again were left out
    examples: tuple[str, ...]


def augment(
    folder: Path,
    walks: int,
    split: str,
    *,
    features: str | None = None,
    temperature: float = 0.0,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    retraced_by: Path | None = None,
    min_ndtw: float = 0.5,
) -> AugmentedSplit:
    """Sample new walks in the training houses, let a speaker describe them, and store them as a split.

    The speaker is trained first unless one is stored with these features and settings. With `retraced_by`, a
    run directory, only walks stay whose description leads that agent along them with an nDTW of at least
    `min_ndtw`. An interrupted call is resumed by the next one with the same arguments.
    """
    if not (temperature == 0 or 0.01 <= temperature <= 100):
        raise ConfigError(
            f"temperature = {temperature} is out of range. Give 0, for the most likely words, or 0.01 to 100."
        )
    if not 0 <= min_ndtw <= 1:
        raise ConfigError(f"min-ndtw = {min_ndtw} is out of range. Give a number from 0 to 1.")
    dataset = Dataset(folder)
    check_split(dataset, split)
    known = [dataset.walks(name) for name in SPLITS if name == "train" or name in dataset.splits]
    paths, headings = sample_paths(dataset.houses, known, walks, seed=seed)
    sampled = len(paths)
    agent = load_agent(retraced_by, folder) if retraced_by else None
    speaker = prepared_speaker(dataset, features, settings)
    facts = {"seed": seed, "temperature": temperature, "features": speaker.features}
    about = [sha256(folder / SPEAKER / MANIFEST), facts, paths.start.tolist(), paths.values.tolist()]
    key = hashlib.sha256(json.dumps([*about, headings.tolist()]).encode()).hexdigest()[:16]
    with exclusive_lock(folder / CACHE / SPEAKER):
        work = folder / CACHE / SPEAKER / f"texts-{key}"
        texts = _generated(speaker, paths, headings, temperature, seed, work)
        if agent:
            kept = np.flatnonzero(retraced(agent, dataset, paths, headings, texts) >= min_ndtw)
            if not len(kept):
                raise ConfigError(
                    f"{retraced_by}: walked none of the {sampled:,} paths again with an nDTW of at least "
                    f"{min_ndtw}. Lower --min-ndtw, or train speaker and follower longer."
                )
            paths, headings, texts = paths.take(kept), headings[kept], [texts[row] for row in kept]
            facts |= {"retraced_by": str(retraced_by), "min_ndtw": min_ndtw}
        save_split(dataset, split, described_walks(paths, headings, texts, dataset.houses), facts)
        shutil.rmtree(work)
    examples = tuple(texts[:: max(1, len(texts) // 3)][:3])
    return AugmentedSplit(split, len(paths), sampled, examples)


def retraced(
    agent: Agent, dataset: Dataset, paths: Ragged, headings: NDArray[np.float64], texts: list[str]
) -> NDArray[np.float64]:
    """The nDTW of an agent that follows the text of each path."""
    houses, name = dataset.houses, "new walks"
    walks = Walks.of(
        described_walks(paths, headings, texts, houses), houses, source=r2r_file(dataset.folder, name)
    )
    task = join_task("r2r", name, houses, walks, TASKS["r2r"], seed=None)
    return evaluate(task, walk_all(agent, task)).scores.ndtw


def _generated(
    speaker: Speaker,
    paths: Ragged,
    headings: NDArray[np.float64],
    temperature: float,
    seed: int,
    work: Path,
) -> list[str]:
    """A text for each path. Finished batches are kept in a folder, from which an interrupted run goes on."""
    done: list[list[list[int]]] = []
    while (found := _read_batch(work / f"{len(done)}.json")) is not None:
        done.append(found)
    views = poses_at(paths.firsts, headings).view
    with one_thread():  # sums, and so words, depend on the number of threads
        batches = speaker.generate(paths, views, temperature=temperature, seed=seed, done=len(done))
        for batch in batches:
            write_json(work / f"{len(done)}.json", signed({"words": batch}), indent=None)
            done.append(batch)
    return [speaker.text_of(words) for batch in done for words in batch]


def _read_batch(file: Path) -> list[list[int]] | None:
    """The words of a batch of texts; None if the file is missing or damaged."""
    if not file.is_file():
        return None
    try:
        found: list[list[int]] = check_signed(file, read_json(file), "")["words"]
    except (DataError, KeyError, TypeError, ValueError):
        return None
    return found
