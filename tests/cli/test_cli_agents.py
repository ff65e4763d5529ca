"""Commands on learned agents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from babywalk.agents.baselines import BASELINES
from babywalk.agents.table import AGENTS
from babywalk.cli import main


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_agents_are_listed_with_their_papers(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("agents") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*AGENTS, *BASELINES]
    assert all("https://arxiv.org/abs/" in line for line in lines[: len(AGENTS)])
    assert run("agents", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [agent["name"] for agent in found if agent["learned"]] == list(AGENTS)


def test_threads_and_device_are_settings_of_a_run(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    chosen: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", chosen.append)
    little = ["imitation.iterations=1", "imitation.batch=2", "reinforce.lectures=0", "validate_on=val_seen:2"]
    base = ["train", "seq2seq", "--data", segmented_dollhouse, "--run", tmp_path / "run", "--preset", "tiny"]
    assert run(*base, "--threads", "3", "--device", "cpu", "--set", *little) == 0
    assert set(chosen) == {3}
    settings = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (settings["threads"], settings["device"]) == (3, "cpu")


def test_a_run_resumes_with_the_threads_it_was_started_with(
    segmented_dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    chosen: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", chosen.append)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    little = ["imitation.iterations=1", "imitation.batch=2", "reinforce.lectures=0", "validate_on=val_seen:2"]
    base = ["train", "seq2seq", "--data", segmented_dollhouse, "--run", tmp_path / "run"]
    assert run(*base, "--preset", "tiny", "--set", *little) == 0
    assert chosen == []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    assert run(*base, "--resume") == 0
    assert chosen == [2]


@pytest.mark.parametrize(("task", "tasks"), [("r2r", "r2r"), ("r6r", "r2r,r6r")])
def test_train_suggests_to_evaluate_on_its_task(
    task: str, tasks: str, segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    little = ["imitation.iterations=1", "imitation.batch=2", "reinforce.lectures=0", "validate_on=val_seen:2"]
    base = ["train", "seq2seq", "--data", segmented_dollhouse, "--run", tmp_path / "run", "--preset", "tiny"]
    assert run(*base, "--task", task, "--set", *little, "threads=1") == 0
    assert f" --tasks {tasks} --split val_unseen\n" in capsys.readouterr().out


def test_a_setting_given_twice_is_an_error(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["train", "babywalk", "--data", dollhouse, "--run", tmp_path / "run"]
    assert run(*base, "--task", "r4r", "--set", "task=r2r") == 2
    assert "--task and --set task=... set the same thing. Give one of them." in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
