"""The paper's figures, as SVG: generalisation to longer tasks, data, performance by length, trajectories."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np

from babywalk.assets.data_directory import PLANS
from babywalk.common.files import read_text
from babywalk.episodes.joining import TASKS
from babywalk.episodes.statistics import lengths, words_per_instruction
from babywalk.evaluation.figures.charts import draw_lengths, draw_lines
from babywalk.evaluation.figures.house import Trajectory, draw_house
from babywalk.evaluation.figures.style import save
from babywalk.reproduce.experiment import Experiment
from babywalk.reproduce.graph import Cell
from babywalk.reproduce.outcome import Evaluations, compared

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BIN_WORDS = 20  # as in the paper's figure
_FEWEST = 10  # instructions of a point
_SEEN_BY_ALL = "r4r"  # the agents of both figures are trained on it


def svg(experiment: Experiment, cells: Sequence[Cell], evaluations: Evaluations) -> str:
    """The figure of an experiment as an SVG element; empty if it has none, or nothing to show yet."""
    if experiment.figure not in FIGURES:
        return ""
    figure = FIGURES[experiment.figure](experiment, cells, evaluations)
    if figure is None:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figure.svg"
        save(figure, file)
        text = read_text(file)
    return text[text.index("<svg") :]


def task_points(
    experiment: Experiment, cells: Sequence[Cell], evaluations: Evaluations
) -> dict[str, dict[str, float]]:
    """SDTW in percent by line and task, the mean over seeds; in-domain, the reference has its own line."""
    values: dict[tuple[str, str], list[float]] = {}
    for cell in cells:
        in_domain = f"{cell.row}, trained on each task"
        lines = [cell.row] if cell.trained_on == _SEEN_BY_ALL else []
        if cell.row == experiment.reference and cell.trained_on == cell.task:
            lines.append(in_domain)
        if lines and (found := evaluations(cell)):
            for line in lines:
                values.setdefault((line, cell.task), []).append(100 * float(compared(found).mean()))
    points: dict[str, dict[str, float]] = {}
    for line, task in sorted(values, key=lambda pair: list(TASKS).index(pair[1])):
        points.setdefault(line, {})[task.upper()] = mean(values[line, task])
    return points


def length_points(
    experiment: Experiment, cells: Sequence[Cell], evaluations: Evaluations
) -> dict[str, dict[str, float]]:
    """SDTW in percent by row and by words of the instruction, over all tasks and seeds."""
    points: dict[str, dict[str, float]] = {}
    for row in experiment.table.agents:
        mine = [cell for cell in cells if cell.row == row and cell.trained_on == _SEEN_BY_ALL]
        known = [found for cell in mine if (found := evaluations(cell))]
        if not known:
            continue
        words = np.concatenate([words_per_instruction(found.task) for found in known])
        values = 100 * np.concatenate([compared(found) for found in known])
        bins = words // _BIN_WORDS
        for number in np.unique(bins).tolist():
            inside = bins == number
            if inside.sum() >= _FEWEST:
                middle = str(number * _BIN_WORDS + _BIN_WORDS // 2)
                points.setdefault(row, {})[middle] = float(values[inside].mean())
    return points


def _tasks(experiment: Experiment, cells: Sequence[Cell], evaluations: Evaluations) -> Figure | None:
    points = task_points(experiment, cells, evaluations)
    dashed = [line for line in points if line not in experiment.table.agents]
    return draw_lines(points, "Task", "SDTW, %", dashed=dashed) if points else None


def _length(experiment: Experiment, cells: Sequence[Cell], evaluations: Evaluations) -> Figure | None:
    points = length_points(experiment, cells, evaluations)
    return draw_lines(points, "Words of the instruction", "SDTW, %") if points else None


def _data(_: Experiment, __: Sequence[Cell], evaluations: Evaluations) -> Figure | None:
    dataset = evaluations.dataset
    return draw_lengths(
        {name: lengths(dataset.task(name, "train")) for name in TASKS if dataset.has(name, "train")}
    )


def _trajectories(experiment: Experiment, cells: Sequence[Cell], evaluations: Evaluations) -> Figure | None:
    """The middle episode of the first column: the expert's path, and those of the rows side by side."""
    trained_on, (name, *_) = experiment.tasks(experiment.table.columns[0])
    shown = [cell for cell in cells if (cell.seed, cell.trained_on, cell.task) == (0, trained_on, name)]
    known = {cell.row: found for cell in shown if (found := evaluations(cell))}
    if not known:
        return None
    task = next(iter(known.values())).task
    number = len(task) // 2
    episode = task[number]
    path = task.paths[int(task.chain_of(np.array([number]))[0])]
    trajectories = [Trajectory("expert", tuple(path.tolist()))]
    for row, found in known.items():
        trajectories.append(Trajectory(row, tuple(found.trajectories.viewpoints[number].tolist())))
    plan = evaluations.dataset.folder / PLANS / f"{episode.scan}.json"
    return draw_house(
        task.houses,
        episode.scan,
        trajectories,
        plan=plan if plan.exists() else None,
        title=f"{task.name.upper()} {task.ids(np.array([number]))[0]}",
        instruction=episode.instruction,
    )


FIGURES: dict[str, Callable[[Experiment, Sequence[Cell], Evaluations], Figure | None]] = {
    "tasks": _tasks,
    "length": _length,
    "data": _data,
    "trajectories": _trajectories,
}
