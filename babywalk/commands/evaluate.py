"""Run agents on tasks, and score trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babywalk.agents.agent import Agent, DecodingAgent
from babywalk.agents.baselines import BASELINES
from babywalk.assets.pretrained import built_in_models, find_model
from babywalk.assets.results import write_results
from babywalk.common.errors import ConfigError, unknown
from babywalk.common.files import check_folder
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.evaluation.comparison import Layout, comparison_table, read_comparison
from babywalk.evaluation.evaluate import (
    Evaluation,
    by_length,
    check_episodes,
    check_goals,
    check_length,
    evaluate,
    summarise,
    walk_all,
    walk_steps,
)
from babywalk.evaluation.report import Report
from babywalk.evaluation.result_files import read_trajectories, to_results
from babywalk.evaluation.result_files import result_file as result_file
from babywalk.evaluation.tables import write_per_instruction
from babywalk.instructions.step_episodes import StepEpisodes
from babywalk.instructions.store import load_aligned_steps
from babywalk.navigation.measures import check_spl_start_is_goal


def score_results(
    file: Path,
    folder: Path,
    task: str,
    split: str,
    *,
    seed: int = 0,
    per_path: bool = False,
    length: str | None = None,
    per_instruction: Path | None = None,
    spl_start_is_goal: str = "success",
) -> Report:
    """Check and score a result file; with `per_instruction`, write a CSV file with a row per instruction.

    `spl_start_is_goal`, here and below: "success" or "zero", SPL where a reference path ends at its start.
    """
    check_spl_start_is_goal(spl_start_is_goal)
    if per_instruction and per_instruction.resolve() == file.resolve():
        raise ConfigError(
            f"{file}: would be overwritten by the measures. Give --per-instruction another file."
        )
    loaded = Dataset(folder).task(task, split, seed=seed)
    found = evaluate(loaded, read_trajectories(file, loaded), spl_start_is_goal=spl_start_is_goal)
    if per_instruction:
        write_per_instruction(per_instruction, found)
    return _report(found, seed, per_path, length, spl_start_is_goal)


def evaluate_agent(
    name: str,
    folder: Path,
    tasks: Sequence[str],
    split: str,
    *,
    seed: int = 0,
    agent_seed: int | None = None,
    per_path: bool = False,
    length: str | None = None,
    trajectories: Path | None = None,
    step_size: int | None = None,
    device: str = "auto",
    decode: str | None = None,
    spl_start_is_goal: str = "success",
) -> list[Report]:
    """Run an agent on tasks and score it; with `trajectories`, write them to a folder as `result_file` names.

    `seed` draws the sample and the bootstrap; `agent_seed`, by default the same, is for an agent that acts at
    random. `step_size` segments instructions into steps of about so many characters; `decode` is a decoder
    with its settings, as in "frontier:candidates=20". A split without goals gives no report, only
    trajectories.
    """
    check_spl_start_is_goal(spl_start_is_goal)
    if length:
        check_length(length)
    if trajectories:
        check_folder(trajectories, "Give --trajectories a folder.")
    dataset = Dataset(folder)
    agent = open_agent(
        name,
        dataset,
        seed if agent_seed is None else agent_seed,
        step_size=step_size,
        device=device,
        decode=decode,
    )
    reports = []
    for task in _load_tasks(dataset, tasks, split, seed, need_goals=trajectories is None):
        walked = walk_all(agent, task)
        if trajectories:
            write_results(result_file(trajectories, task.name, split), to_results(walked, task))
        if task.walks.has_goals:
            found = evaluate(task, walked, spl_start_is_goal=spl_start_is_goal)
            reports.append(_report(found, seed, per_path, length, spl_start_is_goal, agent=agent))
    return reports


def evaluate_single_steps(
    name: str,
    folder: Path,
    tasks: Sequence[str],
    split: str,
    *,
    seed: int = 0,
    agent_seed: int | None = None,
    per_path: bool = False,
    length: str | None = None,
    device: str = "auto",
    decode: str | None = None,
    spl_start_is_goal: str = "success",
) -> list[Report]:
    """Run an agent on each aligned Baby-Step alone and score it against that part of the expert's path.

    Each step starts where, and facing as, the expert started it.
    """
    check_spl_start_is_goal(spl_start_is_goal)
    if length:
        check_length(length)
    dataset = Dataset(folder)
    own_seed = seed if agent_seed is None else agent_seed
    agent = open_agent(name, dataset, own_seed, device=device, decode=decode)
    reports = []
    for task in _load_tasks(dataset, tasks, split, seed, need_goals=True):
        single = StepEpisodes.of(load_aligned_steps(dataset, task))
        found = evaluate(single.task, walk_steps(agent, single), spl_start_is_goal=spl_start_is_goal)
        report = _report(found, seed, per_path, length, spl_start_is_goal, agent=agent, paths=single.paths)
        reports.append(replace(report, unit="Baby-Steps"))
    return reports


def compare_results(files: Sequence[Path], layout: Layout, names: Sequence[str] = ()) -> str:
    """One table of the output of 'babywalk evaluate --json' in files; `names` are labels, one per file."""
    return comparison_table(read_comparison(files, names), layout)


def submit(results: Path, folder: Path, split: str, file: Path) -> int:
    """Check trajectories of R2R and write them in the format of the leaderboard; returns their number."""
    task = Dataset(folder).task("r2r", split)
    write_results(file, to_results(read_trajectories(results, task), task))
    return len(task)


def open_agent(
    name: str,
    dataset: Dataset,
    seed: int,
    *,
    step_size: int | None = None,
    device: str = "auto",
    decode: str | None = None,
) -> Agent:
    """A baseline by name, or a learned agent by its run directory, model file or built-in name."""
    if name in BASELINES:
        if step_size is not None:
            raise ConfigError(f"Agent {name!r} does not read instructions. Leave out --step-size.")
        if decode is not None:
            raise ConfigError(f"Agent {name!r} does not score actions. Leave out --decode.")
        return BASELINES[name](seed)
    if find_model(name) is None:
        known = [*BASELINES, *built_in_models(), "a run directory", "a model file"]
        raise unknown("Agent", name, known)
    # Imported late: everything else here works without torch.
    from babywalk.commands.follow import load_agent

    return load_agent(
        Path(name), dataset.folder, step_size=step_size, device=device, decode=decode, seed=seed
    )


def _load_tasks(
    dataset: Dataset, tasks: Sequence[str], split: str, seed: int, *, need_goals: bool
) -> list[Task]:
    """The tasks to run on; missing goals are reported before the agent starts."""
    found = [dataset.task(task, split, seed=seed) for task in tasks]
    for task in found:
        (check_goals if need_goals else check_episodes)(task)
    return found


def _report(
    found: Evaluation,
    seed: int,
    per_path: bool,
    length: str | None,
    spl_start_is_goal: str,
    *,
    agent: Agent | None = None,
    paths: NDArray[np.int64] | None = None,
) -> Report:
    decoding = agent if isinstance(agent, DecodingAgent) else None
    return Report(
        task=found.task.name,
        split=found.task.split,
        episodes=len(found.task),
        measures=summarise(found, seed=seed, per_path=per_path, paths=paths),
        by_length=by_length(found, length, per_path=per_path, paths=paths) if length else [],
        spl_start_is_goal=spl_start_is_goal,
        decoding=decoding.decoding if decoding else "",
        known_map=bool(decoding and decoding.known_map),
    )
