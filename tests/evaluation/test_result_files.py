from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from builders import corridor, placed, walk

from babywalk.agents.baselines import OracleAgent
from babywalk.assets.results import Answer, read_results, write_results
from babywalk.buildings.houses import Houses
from babywalk.common.errors import DataError
from babywalk.episodes.joining import JoinRule
from babywalk.episodes.task import Task, join_task
from babywalk.evaluation.result_files import read_trajectories, to_results


@pytest.fixture
def task() -> Task:
    houses = Houses.of([corridor("a", 5), corridor("b", 5, prefix="b")])
    walks = placed(houses, walk("a", [0, 1, 2], 1, list("wxyz")), walk("b", [4, 3], 2, prefix="b"))
    return join_task("r2r", "val", houses, walks, JoinRule(1, 0, {}), seed=None)


GOOD = [
    Answer("2_0", ("b4", "b3", "b3")),
    *(Answer(f"1_{number}", ("0", "1")) for number in range(4)),
]


def read(tmp_path: Path, task: Task, answers: list[Answer]) -> object:
    write_results(tmp_path / "r.json", answers)
    return read_trajectories(tmp_path / "r.json", task)


def test_trajectories_are_read_in_the_order_of_the_task(tmp_path: Path, task: Task) -> None:
    write_results(tmp_path / "r.json", GOOD)
    found = read_trajectories(tmp_path / "r.json", task)
    assert found.viewpoints.padded().tolist() == [[0, 1, -1]] * 4 + [[9, 8, 8]]
    # The start has heading 0.5 (view 13); after a move south (view 18), staying keeps the view.
    assert found.views.padded().tolist() == [[13, 12, -1]] * 4 + [[13, 18, 18]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"9_9": ("0",), "8_8": ("0",)}, r"r\.json: 2 ids are not in r2r val: 9_9, 8_8\."),
        (
            {"1_1": None, "2_0": None},
            r"r2r val have no trajectory: 1_1, 2_0\. If this is a sample, give --split val:3\.",
        ),
        ({"1_2": ()}, r"1 trajectories are empty: 1_2\. Give at least the start viewpoint\."),
        ({"1_0": ("0", "2")}, r"1 trajectories move between viewpoints without an edge: 1_0\."),
        ({"1_0": ("1", "2")}, r"1 trajectories do not begin at the start viewpoint of their episode: 1_0\."),
        ({"1_3": ("0", "b1")}, r"1 trajectories visit viewpoints that are not in their house: 1_3 \(b1\)\."),
        (
            {f"1_{number}": ("0", "4") for number in range(4)},
            r"4 trajectories move between viewpoints without an edge: 1_0, 1_1, 1_2 and 1 more\.",
        ),
    ],
)
def test_invalid_results_are_reported_with_the_first_ids(
    tmp_path: Path, task: Task, change: dict[str, tuple[str, ...] | None], message: str
) -> None:
    paths: dict[str, tuple[str, ...] | None] = {answer.id: answer.path for answer in GOOD} | change
    answers = [Answer(id_, path) for id_, path in paths.items() if path is not None]
    with pytest.raises(DataError, match=message):
        read(tmp_path, task, answers)


def test_a_second_trajectory_for_an_instruction_is_rejected(tmp_path: Path, task: Task) -> None:
    with pytest.raises(DataError, match=r"1 instructions have more than one trajectory: 2_0\."):
        read(tmp_path, task, [*GOOD, GOOD[0]])


def test_written_results_are_read_back_unchanged(tmp_path: Path, task: Task) -> None:
    walked = OracleAgent().walk(task, np.arange(len(task)))
    write_results(tmp_path / "r.json", to_results(walked, task))
    again = read_trajectories(tmp_path / "r.json", task)
    assert again.viewpoints.padded().tolist() == walked.viewpoints.padded().tolist()
    assert again.views.padded().tolist() == walked.views.padded().tolist()
    first = read_results(tmp_path / "r.json")[0]
    assert first.facing is not None
    assert first.facing[1] == (0.0, 0.0)  # north, level
