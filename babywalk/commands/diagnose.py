"""Diagnose where an agent fails, and draw learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from babywalk.commands.evaluate import open_agent
from babywalk.common.errors import ConfigError, DataError
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.evaluation.curves import Curves, read_curves
from babywalk.evaluation.diagnosis.report import Diagnosis, diagnose
from babywalk.evaluation.evaluate import (
    check_goals,
    evaluate,
    walk_all,
)
from babywalk.evaluation.figures.charts import draw_curves, draw_diagnosis
from babywalk.evaluation.figures.style import save
from babywalk.evaluation.result_files import read_trajectories
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.store import (
    identify_steps,
    load_aligned_steps,
)


def diagnose_walks(
    walks: str,
    folder: Path,
    task: str,
    split: str,
    *,
    seed: int = 0,
    figure: Path | None = None,
    device: str = "auto",
    decode: str | None = None,
) -> Diagnosis:
    """Diagnose where an agent fails; `walks` is a result file (.json), or an agent to run first."""
    dataset = Dataset(folder)
    loaded = dataset.task(task, split, seed=seed)
    check_goals(loaded)
    if walks.endswith(".json"):
        if decode is not None:
            raise ConfigError(f"{walks}: has the trajectories already. Leave out --decode.")
        walked = read_trajectories(Path(walks), loaded)
    else:
        walked = walk_all(open_agent(walks, dataset, seed, device=device, decode=decode), loaded)
    steps, left_out = _available_steps(dataset, loaded)
    vocabulary = dataset.vocabulary() if "train" in dataset.splits else None
    if vocabulary is None:
        left_out.append("unknown words. They need a train split in the data directory.")
    diagnosis = diagnose(
        evaluate(loaded, walked), steps=steps, vocabulary=vocabulary, left_out=tuple(left_out), seed=seed
    )
    if figure:
        save(draw_diagnosis(diagnosis), figure)
    return diagnosis


def _available_steps(dataset: Dataset, task: Task) -> tuple[BabySteps | None, list[str]]:
    """The Baby-Steps of a task, aligned if possible; and what is missing, with the command that makes it."""
    try:
        steps = identify_steps(dataset, task)
    except DataError as missing:
        return None, [f"numbers of Baby-Steps, failures by Baby-Step. {missing}"]
    try:
        return load_aligned_steps(dataset, task), []
    except DataError as missing:
        return steps, [f"failures by Baby-Step. {missing}"]


def learning_curves(runs: Sequence[Path], file: Path, measure: str = "SDTW") -> list[Curves]:
    """Draw the learning curves of runs."""
    curves = read_curves(runs, measure)
    save(draw_curves(curves), file)
    return curves
