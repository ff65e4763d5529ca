"""Numbers over seeds and tasks, and paired differences, computed by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

from babywalk.evaluation.paper import paper_table
from babywalk.navigation.measures import MEASURES, Scores
from babywalk.reproduce.experiment import Experiment, Row
from babywalk.reproduce.graph import Cell
from babywalk.reproduce.outcome import Outcome, outcome
from babywalk.reproduce.stage import Stage
from babywalk.reproduce.tables import latex_tables, markdown_tables, order_notes, shown_tables

MEMORY = paper_table("memory")
NAMES = list(MEASURES)


@dataclass
class Scored:
    """Stands for an evaluation: only SDTW matters, every measure has its values."""

    values: np.ndarray[Any, Any]
    paths: np.ndarray[Any, Any]

    @property
    def scores(self) -> Scores:
        return Scores(*[self.values] * len(NAMES))


def experiment(*rows: str) -> Experiment:
    table = replace(MEMORY, agents=rows)
    return Experiment("memory", "Memory", table, "gamma 0.5", {row: Row("babywalk") for row in rows}, None)


def made(values: dict[tuple[str, str, int], list[float]], *rows: str) -> Outcome:
    """An outcome from SDTW by row, task and seed; instructions 0 and 1 share a path, and so on."""
    cells, found = [], {}
    for row in rows:
        for seed in (0, 1):
            for task in ("r2r", "r4r", "r6r", "r8r"):
                stage = Stage(f"{row} {task} {seed}", "evaluation", (), (Path("walks.json"),))
                cells.append(Cell(row, "r4r", seed, task, stage, stage, Path("run")))
                if (given := values.get((row, task, seed))) is not None:
                    found[stage.name] = Scored(np.array(given), np.arange(len(given)) // 2)
    # Stand-ins for the cells have what is read of them.
    return outcome(experiment(*rows), cells, lambda cell: found.get(cell.stage.name))  # type: ignore[arg-type]


def test_a_number_is_the_mean_over_seeds_of_the_mean_over_tasks() -> None:
    values = {("none", "r4r", 0): [0.2, 0.4], ("none", "r4r", 1): [0.6, 0.6]}
    values |= {("none", task, 0): [level] for task, level in (("r2r", 0.1), ("r6r", 0.2), ("r8r", 0.6))}
    values[("none", "r2r", 1)] = [0.9]  # of seed 1, R6R and R8R are missing
    found = made(values, "none")
    number = found.numbers["none", "r4r>r4r", "SDTW"]
    assert (number.mean, number.low, number.high) == pytest.approx((0.45, 0.3, 0.6))
    assert found.seeds["none", "r4r>r4r"] == 2
    assert found.numbers["none", "r4r>others", "SDTW"].mean == pytest.approx(0.3)
    assert found.seeds["none", "r4r>others"] == 1


def test_a_difference_is_paired_and_over_the_seeds_that_both_rows_have() -> None:
    values = {("none", "r4r", 0): [0.1, 0.3, 0.2, 0.4], ("none", "r4r", 1): [0.9] * 4}
    values |= {("gamma 0.5", "r4r", 0): [0.2, 0.4, 0.3, 0.5]}
    found = made(values, "none", "gamma 0.5").differences
    # Every instruction is worse by 0.1, so there is nothing to resample.
    difference = found["none", "r4r>r4r"]
    assert (difference.mean, difference.low, difference.high) == pytest.approx((-0.1, -0.1, -0.1))
    assert set(found) == {("none", "r4r>r4r")}


def test_paths_are_resampled_and_not_instructions() -> None:
    """Two paths with opposite differences: resampled means are -1, 0 or 1, whatever their instructions."""
    values = {("none", "r4r", 0): [1.0, 1.0, 0.0, 0.0], ("gamma 0.5", "r4r", 0): [0.0, 0.0, 1.0, 1.0]}
    difference = made(values, "none", "gamma 0.5").differences["none", "r4r>r4r"]
    assert (difference.mean, difference.low, difference.high) == pytest.approx((0.0, -1.0, 1.0))


def test_every_task_of_a_mean_counts_the_same() -> None:
    values = {("gamma 0.5", task, 0): [0.0] * count for task, count in (("r2r", 6), ("r6r", 2), ("r8r", 2))}
    values |= {("none", "r2r", 0): [0.3] * 6, ("none", "r6r", 0): [0.0] * 2, ("none", "r8r", 0): [0.0] * 2}
    difference = made(values, "none", "gamma 0.5").differences["none", "r4r>others"]
    assert difference.mean == pytest.approx(0.1)


def test_tables_show_spread_paper_and_difference() -> None:
    values = {("none", "r4r", seed): [level, level] for seed, level in enumerate((0.1, 0.2))}
    values |= {("gamma 0.5", "r4r", seed): [0.5, 0.5] for seed in (0, 1)}
    found = made(values, "none", "gamma 0.5")
    (table,) = shown_tables(found)
    cell = table.rows["none"][2]
    assert (cell.ours, cell.spread, cell.paper) == ("15.0", "10.0 to 20.0", "9.9")
    assert (cell.difference, cell.significant) == ("-35.0 (-35.0 to -35.0)", True)
    assert table.rows["none"][5].ours == "-"
    assert "| none, paper | 18.9 | 43.1 | 9.9 | 17.1 | 42.3 | 9.6 |" in markdown_tables(found)
    latex = latex_tables(found)
    assert latex.count(" \\\\\n") == 5
    assert "\\begin{tabular}{lrrrrrr}" in latex
    assert list(order_notes(found)) == [
        "R4R to R4R: the paper's best row, gamma 0.5, is number 1 of 2 here, its last row, none, number 2."
    ]
