from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.patches import StepPatch

from babywalk.common.errors import ConfigError
from babywalk.episodes.statistics import Lengths
from babywalk.evaluation.figures.charts import draw_lengths
from babywalk.evaluation.figures.style import save


def lengths_of(words: list[int], viewpoints: list[int]) -> Lengths:
    return Lengths(np.array(words, dtype=np.int64), np.array(viewpoints, dtype=np.int64))


TASKS = {"r2r": lengths_of([20, 30, 40], [5, 6, 7]), "r8r": lengths_of([90, 100, 140], [20, 22])}


def test_lengths_have_two_panels_with_a_line_per_task():
    figure = draw_lengths(TASKS)
    words, viewpoints = figure.axes
    legends = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in (words, viewpoints)]
    assert legends == [["R2R, mean 30.0", "R8R, mean 110.0"], ["R2R, mean 6.0", "R8R, mean 21.0"]]
    assert (words.get_xlabel(), viewpoints.get_xlabel()) == (
        "Words of an instruction",
        "Viewpoints of a path",
    )


def test_lengths_are_drawn_as_densities():
    for axes in draw_lengths(TASKS).axes:
        for line in axes.findobj(StepPatch):
            density, edges, _ = line.get_data()
            assert (density * np.diff(edges)).sum() == pytest.approx(1)


def test_a_single_length_and_an_empty_task_are_drawn():
    draw_lengths({"r2r": lengths_of([7], [1]), "r4r": lengths_of([], [])}).draw_without_rendering()


def test_tasks_without_episodes_are_rejected():
    with pytest.raises(ConfigError, match="There are no episodes to draw lengths of"):
        draw_lengths({"r2r": lengths_of([], [])})


def test_the_same_lengths_give_the_same_bytes(tmp_path: Path):
    for name in ("one.svg", "two.svg"):
        save(draw_lengths(TASKS), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
