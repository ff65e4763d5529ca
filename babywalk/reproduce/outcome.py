"""What experiments found: numbers over seeds, and differences from a reference row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.evaluation.evaluate import Evaluation, Measured, evaluate
from babywalk.evaluation.result_files import read_trajectories
from babywalk.navigation.measures import MEASURES, confidence
from babywalk.reproduce.experiment import Experiment
from babywalk.reproduce.graph import Cell, Place
from babywalk.reproduce.stage import is_finished

COMPARED = "SDTW"  # the measure of the differences
_NAMES = list(MEASURES)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The finished part of an experiment's table. Measures are in metres, or from 0 to 1."""

    experiment: Experiment
    # The mean over seeds of a row, a column and a measure, with the least and the greatest seed.
    numbers: dict[tuple[str, str, str], Measured] = field(default_factory=dict)
    seeds: dict[tuple[str, str], int] = field(default_factory=dict)  # of a row and a column
    # SDTW of a row minus that of the reference, in a column, with its 95 % interval: a paired bootstrap over
    # paths of the mean over seeds.
    differences: dict[tuple[str, str], Measured] = field(default_factory=dict)


class Evaluations:
    """The evaluations of cells, each scored once."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._tasks: dict[str, Task] = {}
        self._found: dict[str, Evaluation] = {}

    @cached_property
    def dataset(self) -> Dataset:
        """The data that the cells are evaluated on."""
        return Dataset(self.place.data)

    def __call__(self, cell: Cell) -> Evaluation | None:
        """The trajectories of a cell with their scores; None if its evaluation is not finished."""
        name = cell.stage.name
        if name not in self._found:
            if not is_finished(self.place.folder, cell.stage):
                return None
            if cell.task not in self._tasks:
                self._tasks[cell.task] = self.dataset.task(cell.task, self.place.scale.split)
            task = self._tasks[cell.task]
            self._found[name] = evaluate(task, read_trajectories(cell.trajectories, task))
        return self._found[name]


def outcome(experiment: Experiment, cells: Sequence[Cell], evaluations: Evaluations) -> Outcome:
    """The numbers of an experiment. A mean over tasks needs all of them; seeds that lack one are left out."""
    found = Outcome(experiment)
    by_place = {(cell.row, cell.trained_on, cell.task, cell.seed): cell for cell in cells}
    seeds = sorted({cell.seed for cell in cells})
    complete_seeds: dict[tuple[str, str], dict[int, list[Evaluation]]] = {}
    for column in experiment.table.columns:
        trained_on, tasks = experiment.tasks(column)
        for row in experiment.table.agents:
            complete: dict[int, list[Evaluation]] = {}
            for seed in seeds:
                some = [evaluations(by_place[row, trained_on, task, seed]) for task in tasks]
                known = [one for one in some if one is not None]
                if len(known) == len(tasks):
                    complete[seed] = known
            if not complete:
                continue
            complete_seeds[row, column] = complete
            found.seeds[row, column] = len(complete)
            for measure in experiment.table.measures:
                values = [mean(one.scores.means()[measure] for one in each) for each in complete.values()]
                found.numbers[row, column, measure] = Measured(mean(values), min(values), max(values))
    for (row, column), complete in complete_seeds.items():
        reference = complete_seeds.get((experiment.reference, column), {})
        common = [seed for seed in complete if seed in reference]
        if row != experiment.reference and common:
            found.differences[row, column] = _difference(
                [complete[seed] for seed in common], [reference[seed] for seed in common]
            )
    return found


def _difference(rows: Sequence[Sequence[Evaluation]], references: Sequence[Sequence[Evaluation]]) -> Measured:
    """The difference in SDTW, by seed and task, with its interval; every task counts the same."""
    by_task, groups, paths = [], [], 0
    for number, first in enumerate(rows[0]):
        pairs = zip(rows, references, strict=True)
        difference = np.mean(
            [compared(one[number]) - compared(other[number]) for one, other in pairs], axis=0
        )
        by_task.append(difference)
        _, path = np.unique(first.paths, return_inverse=True)
        groups.append(path + paths)
        paths += int(path.max()) + 1
    total = sum(map(len, by_task))
    values = np.concatenate([each * (total / (len(by_task) * len(each))) for each in by_task])
    low, high = confidence(values, groups=np.concatenate(groups))
    return Measured(float(values.mean()), float(low), float(high))


def compared(evaluation: Evaluation) -> NDArray[np.float64]:
    """(E,) SDTW of each instruction."""
    values: NDArray[np.float64] = evaluation.scores.table()[:, _NAMES.index(COMPARED)]
    return values
