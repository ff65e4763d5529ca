"""The figures of experiments: their points by hand, and their SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from babywalk.navigation.measures import MEASURES, Scores
from babywalk.reproduce import figures
from babywalk.reproduce.experiment import experiments
from babywalk.reproduce.figures import length_points, svg, task_points
from babywalk.reproduce.graph import Cell
from babywalk.reproduce.stage import Stage

TEASER, LENGTH = experiments()["teaser"], experiments()["length"]


@dataclass
class Scored:
    """Stands for an evaluation, with the words of its instructions."""

    values: list[float]
    words: list[int]

    @property
    def scores(self) -> Scores:
        return Scores(*[np.array(self.values)] * len(MEASURES))

    @property
    def task(self) -> Any:
        return SimpleNamespace(words=self.words)


def cell(row: str, trained_on: str, task: str, seed: int = 0) -> Cell:
    stage = Stage(f"{row} {trained_on} {task} {seed}", "evaluation", (), (Path("walks.json"),))
    return Cell(row, trained_on, seed, task, stage, stage, Path("run"))


@pytest.fixture(autouse=True)
def words_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "words_per_instruction", lambda task: np.array(task.words))


def test_the_reference_has_a_line_in_domain_beside_its_line_out_of_domain() -> None:
    found = {
        cell("SEQ2SEQ", "r4r", "r8r"): [0.1],
        cell("SEQ2SEQ", "r4r", "r2r"): [0.3],
        cell("SEQ2SEQ", "r2r", "r2r"): [0.9],
        cell("BABYWALK+", "r4r", "r4r", 0): [0.2],
        cell("BABYWALK+", "r4r", "r4r", 1): [0.4],
        cell("BABYWALK+", "r8r", "r8r"): [0.5],
    }
    known = {one.stage.name: Scored(values, [1]) for one, values in found.items()}
    points = task_points(TEASER, [*found, cell("BABYWALK+", "r4r", "r6r")], _lookup(known))
    assert {line: pytest.approx(each) for line, each in points.items()} == {
        "SEQ2SEQ": {"R2R": 30.0, "R8R": 10.0},
        "BABYWALK+": {"R4R": 30.0},
        "BABYWALK+, trained on each task": {"R4R": 30.0, "R8R": 50.0},
    }
    assert list(points["SEQ2SEQ"]) == ["R2R", "R8R"]


def test_lengths_are_binned_over_tasks_and_bins_of_few_instructions_are_left_out() -> None:
    known = {
        "SF+ r4r r2r 0": Scored([0.2] * 6 + [0.9], [25] * 6 + [81]),
        "SF+ r4r r4r 0": Scored([0.4] * 6, [39] * 6),
        "SF+ r2r r2r 0": Scored([1.0] * 20, [25] * 20),  # trained on another task
    }
    cells = [cell("SF+", "r4r", "r2r"), cell("SF+", "r4r", "r4r"), cell("SF+", "r2r", "r2r")]
    assert length_points(LENGTH, cells, _lookup(known)) == {"SF+": {"30": pytest.approx(30.0)}}


def test_a_figure_is_one_svg_element_and_nothing_without_evaluations() -> None:
    cells = [cell("SEQ2SEQ", "r4r", task) for task in ("r2r", "r4r")]
    known = {one.stage.name: Scored([0.5], [1]) for one in cells}
    text = svg(TEASER, cells, _lookup(known))
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("}svg")
    assert "SEQ2SEQ" in text
    assert "script" not in text
    assert svg(TEASER, cells, _lookup({})) == ""
    assert svg(replace(TEASER, figure=""), cells, _lookup(known)) == ""


def _lookup(known: dict[str, Scored]) -> Any:
    return lambda one: known.get(one.stage.name)
