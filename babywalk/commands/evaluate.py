"""Let agents walk tasks, and score what they did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babywalk.agents.baselines import BASELINES
from babywalk.assets.results import write_results
from babywalk.assets.trained import built_in_models, find_model
from babywalk.common.errors import ConfigError, unknown
from babywalk.common.files import check_folder
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.evaluation.answers import as_answers, read_answers
from babywalk.evaluation.comparison import read_comparison
from babywalk.evaluation.comparison_table import Layout, comparison_table
from babywalk.evaluation.evaluation import (
    Evaluation,
    by_length,
    check_goals,
    check_length,
    evaluate,
    summarise,
    walk_all,
    walk_steps,
)
from babywalk.evaluation.reports import Report
from babywalk.evaluation.score_table import write_per_instruction
from babywalk.instructions.step_episodes import StepEpisodes
from babywalk.instructions.store import (
    kept_aligned,
)
from babywalk.navigation.trajectories import Agent


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
) -> Report:
    """Check and score the result file of any agent."""
    if per_instruction and per_instruction.resolve() == file.resolve():
        raise ConfigError(f"{file}: would be written over by the measures. Give --per-instruction another.")
    loaded = Dataset(folder).task(task, split, seed=seed)
    found = evaluate(loaded, read_answers(file, loaded))
    if per_instruction:
        write_per_instruction(per_instruction, found)
    return _report(found, seed, per_path, length)


def evaluate_agent(
    name: str,
    folder: Path,
    tasks: Sequence[str],
    split: str,
    *,
    seed: int = 0,
    per_path: bool = False,
    length: str | None = None,
    trajectories: Path | None = None,
    step_size: int | None = None,
    agent_seed: int | None = None,
) -> list[Report]:
    """Let an agent walk tasks and score it; its trajectories are kept in files of a folder, by `result_file`.

    With `step_size` it is told instructions in steps of about so many characters. `agent_seed` is the seed of an
    agent that draws, where it is not that of all else. Of a split without goals there is no report, and
    trajectories alone.
    """
    if length:
        check_length(length)
    if trajectories:
        check_folder(trajectories, "Give --trajectories a folder.")
    dataset = Dataset(folder)
    agent = open_agent(name, dataset, seed if agent_seed is None else agent_seed, step_size)
    reports = []
    for loaded in _loaded(dataset, tasks, split, seed, measured=trajectories is None):
        walked = walk_all(agent, loaded)
        if trajectories:
            write_results(result_file(trajectories, loaded.name, split), as_answers(walked, loaded))
        if loaded.walks.has_goals:
            reports.append(_report(evaluate(loaded, walked), seed, per_path, length))
    return reports


def result_file(folder: Path, task: str, split: str) -> Path:
    """Where trajectories are kept; those of a sample, as "val_unseen:40", do not overwrite those of all."""
    return folder / f"{task}_{split.replace(':', '_')}.json"


def evaluate_single_steps(
    name: str,
    folder: Path,
    tasks: Sequence[str],
    split: str,
    *,
    seed: int = 0,
    per_path: bool = False,
    length: str | None = None,
    agent_seed: int | None = None,
) -> list[Report]:
    """Let an agent walk each aligned Baby-Step alone, and score it against the expert's stretch of path.

    `agent_seed` as in `evaluate_agent`.
    """
    if length:
        check_length(length)
    dataset = Dataset(folder)
    agent = open_agent(name, dataset, seed if agent_seed is None else agent_seed)
    reports = []
    for loaded in _loaded(dataset, tasks, split, seed, measured=True):
        single = StepEpisodes.of(kept_aligned(dataset, loaded))
        found = evaluate(single.task, walk_steps(agent, single))
        report = _report(found, seed, per_path, length, paths=single.paths)
        reports.append(replace(report, unit="Baby-Steps"))
    return reports


def _loaded(dataset: Dataset, tasks: Sequence[str], split: str, seed: int, *, measured: bool) -> list[Task]:
    """Tasks to walk; whether what is to be measured has goals is known before anyone walks."""
    found = [dataset.task(task, split, seed=seed) for task in tasks]
    for task in found if measured else []:
        check_goals(task)
    return found


def compare_results(files: Sequence[Path], layout: Layout, names: Sequence[str] = ()) -> str:
    """One table of what 'babywalk evaluate --json' said in some files; `names` are labels, one per file."""
    return comparison_table(read_comparison(files, names), layout)


def submit(results: Path, folder: Path, split: str, file: Path) -> int:
    """Check trajectories of R2R and write them as the leaderboard reads them; returns how many."""
    task = Dataset(folder).task("r2r", split)
    write_results(file, as_answers(read_answers(results, task), task))
    return len(task)


def open_agent(name: str, dataset: Dataset, seed: int, step_size: int | None = None) -> Agent:
    """A simple agent by its name, or a learned one by its run or its file."""
    if name in BASELINES:
        if step_size is not None:
            raise ConfigError(f"Agent {name!r} reads nothing, in steps of any size. Leave out --step-size.")
        return BASELINES[name](seed)
    if find_model(name) is None:
        known = [*BASELINES, *built_in_models(), "a run's directory", "a model's file"]
        raise unknown("Agent", name, known)
    # Loaded where it is needed: everything else here works without torch.
    from babywalk.commands.follow import load_agent

    return load_agent(Path(name), dataset.folder, step_size=step_size)


def _report(
    found: Evaluation,
    seed: int,
    per_path: bool,
    length: str | None,
    *,
    paths: NDArray[np.int64] | None = None,
) -> Report:
    return Report(
        task=found.task.name,
        split=found.task.split,
        episodes=len(found.task),
        measures=summarise(found, seed=seed, per_path=per_path, paths=paths),
        by_length=by_length(found, length, per_path=per_path, paths=paths) if length else [],
    )
