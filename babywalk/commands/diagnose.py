"""Where an agent fails, and how its training went."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from babywalk.commands.evaluate import open_agent
from babywalk.common.errors import DataError
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.evaluation.answers import read_answers
from babywalk.evaluation.curves import Curves, read_curves
from babywalk.evaluation.diagnosis.diagnose import Diagnosis, diagnose
from babywalk.evaluation.evaluation import (
    check_goals,
    evaluate,
    walk_all,
)
from babywalk.evaluation.figures.curves import draw_curves
from babywalk.evaluation.figures.diagnosis import draw_diagnosis
from babywalk.evaluation.figures.saving import save
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.store import (
    identified,
    kept_aligned,
)


def diagnose_walks(
    walks: str,
    folder: Path,
    task: str,
    split: str,
    *,
    seed: int = 0,
    figure: Path | None = None,
) -> Diagnosis:
    """Say where an agent fails: `walks` is a result file, or an agent that walks first."""
    dataset = Dataset(folder)
    loaded = dataset.task(task, split, seed=seed)
    check_goals(loaded)
    if walks.endswith(".json"):
        walked = read_answers(Path(walks), loaded)
    else:
        walked = walk_all(open_agent(walks, dataset, seed), loaded)
    steps, left_out = _steps_if_there(dataset, loaded)
    vocabulary = dataset.vocabulary() if "train" in dataset.splits else None
    if vocabulary is None:
        left_out.append("unknown words, which need the walks of a train split.")
    found = diagnose(
        evaluate(loaded, walked), steps=steps, vocabulary=vocabulary, left_out=tuple(left_out), seed=seed
    )
    if figure:
        save(draw_diagnosis(found), figure)
    return found


def _steps_if_there(dataset: Dataset, task: Task) -> tuple[BabySteps | None, list[str]]:
    """The Baby-Steps of a task, aligned if they were; and what is missing, with the command that makes it."""
    try:
        steps = identified(dataset, task)
    except DataError as missing:
        return None, [f"numbers of Baby-Steps, and which loses the way. {missing}"]
    try:
        return kept_aligned(dataset, task), []
    except DataError as missing:
        return steps, [f"which Baby-Step loses the way. {missing}"]


def learning_curves(runs: Sequence[Path], file: Path, measure: str = "SDTW") -> list[Curves]:
    """Draw what runs wrote down while they learned."""
    found = read_curves(runs, measure)
    save(draw_curves(found), file)
    return found
