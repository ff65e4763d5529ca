"""Show episodes and the paths of agents on a web page: one file, or a live page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count, product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from babywalk.agents.baselines import BASELINES
from babywalk.assets.pretrained import find_model
from babywalk.commands.evaluate import open_agent
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import write_text
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.evaluation.evaluate import check_episodes
from babywalk.evaluation.result_files import read_trajectories
from babywalk.viewer.collection import EXPERT, Collection
from babywalk.viewer.page import page
from babywalk.viewer.service import Follower, Service
from babywalk.viewer.walks import AgentWalker, FileWalker, Walker

if TYPE_CHECKING:
    from babywalk.viewer.live import LivePage
    from babywalk.viewer.solid import SolidPage

LIMIT = 300  # episodes of a task that a page shows, unless told otherwise


def write_page(
    shown: Sequence[tuple[str, str]],
    folder: Path,
    tasks: Sequence[str],
    splits: Sequence[str],
    file: Path,
    *,
    limit: int = LIMIT,
    seed: int = 0,
    device: str = "auto",
) -> list[Collection]:
    """Write a self-contained page with the episodes of tasks, and the paths of result files and agents.

    `shown` are labels and result files, runs, models or names of agents. Of each task and split at most
    `limit` episodes are shown, a seeded sample.
    """
    dataset = Dataset(folder)
    whole = [dataset.task(task, split, seed=seed) for task in tasks for split in splits]
    for task in whole:
        check_episodes(task)
    walkers = open_walkers(shown, dataset, whole, seed=seed, device=device)
    collections = [make_collection(dataset, task, walkers, limit=limit, seed=seed) for task in whole]
    named = ", ".join(f"{one.task.name.upper()} {one.task.split}" for one in collections)
    write_text(file, page(named, dataset, collections))
    return collections


def make_service(
    shown: Sequence[tuple[str, str]],
    folder: Path,
    tasks: Sequence[str],
    splits: Sequence[str],
    *,
    limit: int = LIMIT,
    seed: int = 0,
    device: str = "auto",
) -> Service:
    """What the live page serves: all tasks and splits of a data directory, the given ones first.

    Result files must answer one of the given tasks and splits; agents walk a task when it is first opened.
    """
    dataset = Dataset(folder)
    given = [dataset.task(task, split, seed=seed) for task in tasks for split in splits]
    for task in given:
        check_episodes(task)
    walkers = open_walkers(shown, dataset, given, seed=seed, device=device)
    first = {(task.name, task.split): task for task in given}
    pairs = product(dataset.tasks(), dataset.splits)
    others = [(task, split) for task, split in pairs if dataset.has(task, split)]

    def load(task: str, split: str) -> Collection:
        whole = first.get((task, split)) or dataset.task(task, split)
        return make_collection(dataset, whole, walkers, limit=limit, seed=seed)

    return Service(
        title=folder.resolve().name,
        dataset=dataset,
        walkers=walkers,
        followers=[one for one in walkers if isinstance(one, Follower)],
        offered=[(*one, dataset.walks(one[1]).has_goals) for one in dict.fromkeys([*first, *others])],
        load=load,
    )


def show_solid(
    shown: Sequence[tuple[str, str]],
    folder: Path,
    task: str,
    split: str,
    episode: str,
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    device: str = "auto",
) -> SolidPage:
    """An episode in three dimensions on a page of viser: the expert's path and those of agents."""
    try:
        from babywalk.viewer.solid import open_solid
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"The page in 3-D needs {error.name}. Install it with: pip install 'babywalk[3d]'."
        ) from None
    dataset = Dataset(folder)
    whole = dataset.task(task, split)
    number = whole.index_of(episode)
    alone = replace(whole, chosen=whole.full_indices(np.array([number])))
    walkers = open_walkers(shown, dataset, [whole], device=device)
    walks = {walker.name: walker.walk(alone).trajectories.viewpoints[0].tolist() for walker in walkers}
    expert = whole.paths[int(whole.chain_of(np.array([number]))[0])].tolist()
    return open_solid(dataset.houses, whole[number].scan, {EXPERT: expert, **walks}, host=host, port=port)


def live_page(service: Service, *, host: str = "127.0.0.1", port: int = 8080) -> LivePage:
    """The page on a port that is open from now on; off loopback it needs a new token."""
    try:
        from babywalk.viewer.live import open_page
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"The live page needs {error.name}. Install it with: pip install 'babywalk[viewer]'; "
            "or write a file with --html."
        ) from None
    return open_page(service, host=host, port=port)


def make_collection(
    dataset: Dataset, whole: Task, walkers: Sequence[Walker], *, limit: int, seed: int
) -> Collection:
    """A sample of the episodes of a task, with the walks of agents and of the result files that answer it."""
    own = [one for one in walkers if not isinstance(one, FileWalker) or one.answers(whole)]
    return Collection.of(dataset, whole.sampled(limit, seed=seed), len(whole), own)


def open_walkers(
    shown: Sequence[tuple[str, str]],
    dataset: Dataset,
    tasks: Sequence[Task],
    *,
    seed: int = 0,
    device: str = "auto",
) -> list[Walker]:
    """Result files, read for the first of the tasks that they answer, and agents, under distinct labels."""
    walkers: list[Walker] = []
    for label, name in shown:
        unique = _unique(label or _label(name, tasks), walkers)
        if name.endswith(".json") and name not in BASELINES:
            walkers.append(_file_walker(unique, Path(name), tasks))
        elif name in BASELINES or find_model(name) is None:
            walkers.append(AgentWalker(unique, open_agent(name, dataset, seed)))
        else:
            walkers.append(_learned(unique, name, dataset, device))
    return walkers


def _learned(label: str, name: str, dataset: Dataset, device: str) -> Walker:
    # Imported late: result files and baselines are shown without torch.
    from babywalk.commands.follow import load_agent
    from babywalk.viewer.recording import LearnedWalker

    return LearnedWalker(label, load_agent(Path(name), dataset.folder, device=device))


def _file_walker(label: str, file: Path, tasks: Sequence[Task]) -> FileWalker:
    problems = []
    for task in tasks:
        try:
            return FileWalker(label, file, task, read_trajectories(file, task))
        except DataError as error:
            problems.append(str(error))
    if len(problems) == 1:
        raise DataError(problems[0])
    sets = ", ".join(f"{task.name} {task.split}" for task in tasks)
    raise DataError(f"{file}: answers none of {sets or 'the tasks'}. For the first: {problems[0]}")


def _label(name: str, tasks: Sequence[Task]) -> str:
    """The name of a run or file; of the run for "run/walks/r4r_val_unseen.json"."""
    path = Path(name)
    if path.suffix != ".json":
        return path.name or name
    if path.stem.startswith(tuple(f"{task.name}_{task.split}" for task in tasks)):
        parents = [part for part in path.resolve().parts[:-1] if part not in ("walks", "trajectories")]
        return parents[-1] if len(parents) > 1 else path.stem
    return path.stem


def _unique(label: str, walkers: Sequence[Walker]) -> str:
    taken = {EXPERT, *(walker.name for walker in walkers)}
    if label not in taken:
        return label
    numbered = (f"{label} {number}" for number in count(2))
    return next(name for name in numbered if name not in taken)
