from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from builders import corridor, placed, walk

from babywalk.agents.baselines import OracleAgent, StopAgent
from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.joining import JoinRule
from babywalk.episodes.task import Task, join_task
from babywalk.evaluation.evaluate import by_length, evaluate, summarise, walk_all
from babywalk.evaluation.tables import mean_over_runs, score_table, write_per_instruction


@pytest.fixture
def task() -> Task:
    """Path 1 of 4 m with three instructions, path 2 of 12 m with one."""
    houses = Houses.of([corridor("a", 8)])
    texts = ["go", "go " * 25, "go " * 25]
    walks = placed(houses, walk("a", [0, 1, 2], 1, texts), walk("a", [0, 1, 2, 3, 4, 5, 6], 2, ["go " * 45]))
    return join_task("r2r", "val", houses, walks, JoinRule(1, 0, {}), seed=None)


def test_means_are_over_instructions_or_over_paths(task: Task) -> None:
    found = evaluate(task, walk_all(StopAgent(), task))
    assert summarise(found)["NE"].mean == pytest.approx((4 * 3 + 12) / 4)
    assert summarise(found, per_path=True)["NE"].mean == pytest.approx((4 + 12) / 2)


def test_the_interval_resamples_whole_paths(task: Task) -> None:
    """Three instructions of one path are not independent: the interval spans the two paths."""
    measured = summarise(evaluate(task, walk_all(StopAgent(), task)))["NE"]
    assert (measured.low, measured.high) == (4, 12)


def test_episodes_are_grouped_by_words_or_metres(task: Task) -> None:
    found = evaluate(task, walk_all(StopAgent(), task))
    assert [(group.lengths, group.episodes) for group in by_length(found)] == [
        ("0-19", 1),
        ("20-39", 2),
        ("40-59", 1),
    ]
    metres = by_length(found, "metres")
    assert [(group.lengths, group.episodes, group.means["NE"]) for group in metres] == [
        ("0-4", 3, 4),
        ("10-14", 1, 12),
    ]
    with pytest.raises(ConfigError, match=r"Length 'meters' is not known\. Did you mean 'metres'\?"):
        by_length(found, "meters")


def test_the_csv_has_a_line_per_instruction(task: Task, tmp_path: Path) -> None:
    write_per_instruction(tmp_path / "out.csv", evaluate(task, walk_all(OracleAgent(), task)))
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["instr_id"] for row in rows] == ["1_0", "1_1", "1_2", "2_0"]
    assert [float(row["PL"]) for row in rows] == [4, 4, 4, 12]
    assert {row["SR"] for row in rows} == {"1.0"}


def test_the_score_table_has_means_and_intervals(task: Task) -> None:
    measured = summarise(evaluate(task, walk_all(OracleAgent(), task)))
    header, means, interval = score_table({"oracle": measured}).splitlines()
    assert header.split() == ["PL", "NE", "SR", "OSR", "SPL", "CLS", "nDTW", "SDTW"]
    assert means.split() == ["oracle", "6.00", "0.00", *["100.0"] * 6]
    assert interval.split()[:3] == ["95", "%", "4.00..12.00"]


def test_the_mean_over_runs_has_their_range(task: Task) -> None:
    runs = [summarise(evaluate(task, walk_all(agent, task))) for agent in (StopAgent(), OracleAgent())]
    mean = mean_over_runs(runs)["SR"]
    assert (mean.mean, mean.low, mean.high) == (0.5, 0, 1)


@pytest.mark.real
@pytest.mark.parametrize(("split", "metres"), [("val_seen", 10.1854), ("val_unseen", 9.4797)])
def test_oracle_and_stop_agents_on_the_real_data(real_dataset: Path, split: str, metres: float) -> None:
    loaded = Dataset(real_dataset).task("r2r", split)
    best = summarise(evaluate(loaded, walk_all(OracleAgent(), loaded)), per_path=True)
    assert (best["SR"].mean, best["SPL"].mean) == (1, 1)
    assert round(best["PL"].mean, 4) == metres
    worst = summarise(evaluate(loaded, walk_all(StopAgent(), loaded)), per_path=True)
    assert round(worst["NE"].mean, 4) == metres
    assert worst["SR"].mean == 0


@pytest.mark.real
def test_a_split_without_goals_is_not_scored(real_dataset: Path) -> None:
    loaded = Dataset(real_dataset).task("r2r", "test")
    walked = walk_all(StopAgent(), loaded)
    starts = loaded.paths.firsts[loaded.chain_of(np.arange(len(loaded)))]
    assert np.array_equal(walked.viewpoints.values, starts)
    with pytest.raises(ConfigError, match="r2r test has no goals to score against"):
        evaluate(loaded, walked)
