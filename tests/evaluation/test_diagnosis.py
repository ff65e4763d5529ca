"""Diagnosis of hand-made trajectories.

House a is a corridor 0 .. 7, viewpoints 2 m apart; house b a flight of stairs 8, 9, 10, 1 m higher each.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders import connectivity, corridor, placed, walk

from babywalk.buildings.houses import Houses
from babywalk.cli import main
from babywalk.commands.evaluate import evaluate_agent
from babywalk.common.ragged import Ragged
from babywalk.episodes.joining import JoinRule
from babywalk.episodes.task import Task, join_task
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.evaluation.diagnosis.failures import step_failures, steps_followed, stopping
from babywalk.evaluation.diagnosis.report import Diagnosis, diagnose, diagnosis_text
from babywalk.evaluation.evaluate import Evaluation, evaluate
from babywalk.evaluation.figures.charts import draw_diagnosis
from babywalk.evaluation.figures.style import save
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.segmented import SegmentedTexts
from babywalk.instructions.sentences import Sentence, spans
from babywalk.navigation.trajectories import Trajectories

ALONG = "go on. go on. stop there."  # from 0 to 6, in steps that end at 2, 4 and 6
BACK = "go on."  # from 7 to 3
CLIMB = "take the Stairs."  # from 8 to 10


@pytest.fixture
def task() -> Task:
    stairs = connectivity("b", [(0, 0, 0), (0, 2, 1), (0, 4, 2)], [(0, 1), (1, 2)], prefix="b")
    houses = Houses.of([corridor("a", 8), stairs])
    walks = placed(
        houses,
        walk("a", range(7), 1, [ALONG] * 5),
        walk("a", [7, 6, 5, 4, 3], 2, [BACK]),
        walk("b", [0, 1, 2], 3, [CLIMB], prefix="b"),
    )
    return join_task("r2r", "val", houses, walks, JoinRule(1, 0, {}), seed=None)


WALKS = [
    [0, 1, 2, 3, 4, 5, 6],  # as the expert
    [0, 1, 2, 3, 4, 5, 6, 5, 4, 3],  # through the goal and back: follows every step
    [0, 1, 2, 1, 0],  # follows only the first step: it comes within 4 m of the end of the second
    [0],  # 4 m from the end of the first step
    [0, 1, 2, 3],  # within 3 m of the ends of two steps
    [7, 6, 5],  # 4 m too early
    [8, 9, 10],
]


@pytest.fixture
def found(task: Task) -> Evaluation:
    walked = Ragged.of(WALKS)
    return evaluate(task, Trajectories(walked, Ragged(np.zeros_like(walked.values), walked.start)))


@pytest.fixture
def steps(task: Task) -> BabySteps:
    texts = task.walks.texts
    segmented = SegmentedTexts.of(
        [[Sentence(begin, end) for begin, end in spans(text)] for text in texts], frozenset()
    )
    counts, ends = [[1, 1, 1]] * 5 + [[1], [1]], [[2, 4, 6]] * 5 + [[4], [2]]
    return BabySteps(task, segmented, Ragged.of(counts), Ragged.of(ends))


def test_stopping_counts_how_failures_end(found: Evaluation) -> None:
    """Walks 1 to 5 fail; of these walk 1 was at the goal. Three walks in all came near the goal."""
    result = stopping(found)
    assert result.failures == 5
    assert result.passed_goal is not None
    assert result.passed_goal.mean == pytest.approx(1 / 5)
    assert result.stopped_at_goal is not None
    assert result.stopped_at_goal.mean == pytest.approx(2 / 3)
    # The reference is 12 m long (8 m in walk 5); the five failures are 18, 8, 0, 6 and 4 m long.
    assert (result.shorter, result.similar, result.longer) != (None, None, None)
    shares = [one.mean for one in (result.shorter, result.similar, result.longer) if one]
    assert shares == pytest.approx([4 / 5, 0, 1 / 5])


def test_shares_of_no_failures_are_none(task: Task) -> None:
    experts = task.paths.take(task.chain_of(np.arange(len(task))))
    result = stopping(evaluate(task, Trajectories(experts, experts)))
    assert (result.failures, result.passed_goal, result.shorter) == (0, None, None)
    assert result.stopped_at_goal is not None
    assert result.stopped_at_goal.mean == 1


def test_a_walk_fails_at_the_first_step_whose_end_it_does_not_reach(
    found: Evaluation, steps: BabySteps
) -> None:
    assert steps_followed(found, steps).tolist() == [3, 3, 1, 0, 2, 0, 1]
    result = step_failures(found, steps)
    assert [(one.step, one.attempts, round(one.failed.mean, 3)) for one in result.steps] == [
        ("1", 7, round(2 / 7, 3)),
        ("2", 4, 0.25),
        ("3", 3, round(1 / 3, 3)),
    ]
    assert result.all_followed is not None
    assert (result.all_followed.episodes, result.all_followed.measures["SR"].mean) == (
        3,
        pytest.approx(2 / 3),
    )


def test_step_ends_must_be_reached_in_order(task: Task, steps: BabySteps, found: Evaluation) -> None:
    """With steps to 6 and back to 2, a walk that was at 2 only before 6 has not followed the second."""
    there_and_back = replace(steps, ends=Ragged.of([[6, 2, 2]] * 5 + [[4], [2]]))
    assert steps_followed(found, there_and_back).tolist()[:2] == [1, 3]


def groups(diagnosis: Diagnosis, group: str) -> list[tuple[str, int, float]]:
    return [(one.name, one.episodes, one.measures["SR"].mean) for one in diagnosis.groups[group]]


def test_episodes_are_grouped(found: Evaluation, steps: BabySteps) -> None:
    vocabulary = Vocabulary.of([ALONG, CLIMB.replace("take", "")], min_count=1)
    diagnosis = diagnose(found, steps=steps, vocabulary=vocabulary)
    assert groups(diagnosis, "Baby-Steps") == [("1", 2, 0.5), ("3", 5, 0.2)]
    assert groups(diagnosis, "words") == [("0-19", 7, pytest.approx(2 / 7))]
    assert groups(diagnosis, "metres of path") == [("0-4", 1, 1), ("5-9", 1, 0), ("10-14", 5, 0.2)]
    assert groups(diagnosis, "height of path") == [
        ("over 1 m up or down", 1, 1),
        ("level", 6, pytest.approx(1 / 6)),
    ]
    assert groups(diagnosis, "stairs in the instruction")[0] == ("stairs mentioned", 1, 1)
    assert groups(diagnosis, "unknown words")[0] == ("with unknown words", 1, 1)  # "take"
    assert diagnosis.houses == 2
    assert diagnosis.spread["SR"].lowest == pytest.approx(1 / 6)
    assert diagnosis.spread["SR"].highest == 1
    assert [house.name for house in diagnosis.worst] == ["a", "b"]


def test_groups_that_need_missing_data_are_left_out(found: Evaluation, steps: BabySteps) -> None:
    diagnosis = diagnose(found, steps=replace(steps, ends=None), left_out=("this. Do that.",))
    assert diagnosis.step_failures is None
    assert "Baby-Steps" in diagnosis.groups
    assert "unknown words" not in diagnosis.groups
    assert "Left out: this. Do that." in diagnosis_text(diagnosis)
    assert "Baby-Steps" not in diagnose(found).groups


def test_the_diagnosis_as_text_and_figure(found: Evaluation, steps: BabySteps, tmp_path: Path) -> None:
    diagnosis = diagnose(found, steps=steps)
    lines = [line.split() for line in diagnosis_text(diagnosis).splitlines()]
    assert ["all", "7", "28.6"] in [line[:3] for line in lines]
    assert ["of", "5", "failures", "95", "%"] in lines
    assert ["2", "4", "25.0"] in [line[:3] for line in lines]
    figure = draw_diagnosis(diagnosis)
    assert [axes.get_xlabel() for axes in figure.axes] == [
        "Baby-Steps",
        "Words",
        "Length of the reference path, m",
        "Baby-Step",
    ]
    save(figure, tmp_path / "f.png")
    assert (tmp_path / "f.png").stat().st_size > 10_000


def test_the_diagnose_command_takes_results_or_an_agent(
    aligned_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(aligned_dollhouse)
    evaluate_agent("random", aligned_dollhouse, ["r4r"], "val_seen:30", trajectories=tmp_path)
    results = str(tmp_path / "r4r_val_seen_30.json")
    base = ["--data", data, "--task", "r4r", "--split", "val_seen:30", "--json"]
    assert main(["diagnose", results, *base, "--figure", str(tmp_path / "f.svg")]) == 0
    of_file = json.loads(capsys.readouterr().out)
    assert main(["diagnose", "random", *base]) == 0
    assert json.loads(capsys.readouterr().out) == of_file
    assert of_file["whole"]["episodes"] == 30
    assert of_file["step_failures"]["steps"][0]["attempts"] == 30
    assert of_file["left_out"] == []
    assert (tmp_path / "f.svg").read_text().startswith("<?xml")


def test_the_diagnose_command_names_the_commands_for_missing_data(
    dollhouse: Path, segmented_dollhouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for data, command in (
        (dollhouse, "babywalk data segment --data {} --splits val_seen"),
        (segmented_dollhouse, "babywalk data align r2r --data {} --splits val_seen"),
    ):
        assert main(["diagnose", "stop", "--data", str(data), "--split", "val_seen:20"]) == 0
        text = capsys.readouterr().out
        assert "Left out: " in text
        assert command.format(data) in text
    assert main(["diagnose", "stop", "--data", str(dollhouse), "--split", "test"]) == 2
    assert "has no goals" in capsys.readouterr().err
    assert main(["diagnose", "randm", "--data", str(dollhouse), "--split", "train"]) == 2
    assert "'randm' is not known" in capsys.readouterr().err
