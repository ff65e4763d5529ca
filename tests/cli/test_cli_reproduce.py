"""The command `babywalk reproduce`: what it lists, plans and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from babywalk.cli import main
from babywalk.reproduce.experiment import experiments


def test_every_experiment_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--list"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert names == list(experiments())


def test_a_plan_counts_stages_and_cells_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "made"
    assert main(["reproduce", "memory", "--seeds", "3", "--plan", "--folder", str(folder)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    counts = {row[0]: row[1:3] for row in rows if len(row) == 5}
    assert counts["agent"] == ["18", "0"]  # six memories, three seeds
    assert counts["evaluation"] == ["72", "0"]
    assert ["memory", "72"] in rows
    assert not folder.exists()


def test_the_status_of_what_was_never_started(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "main", "--status", "--folder", str(tmp_path / "made")]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["evaluation", "0", "0", "0", "32"] in rows
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "No experiment is given"),
        (["mian"], "Experiment 'mian' is not known. Did you mean 'main'?"),
        (["main", "--scale", "big"], "Scale 'big' is not known"),
        (["main", "--data", "nowhere"], "nowhere: is not a data directory"),
        (["main", "--recipes", "nowhere"], "nowhere: is not a folder"),
        (["main", "--adopt", "nowhere"], "nowhere: is not a folder"),
    ],
)
def test_mistakes_are_errors(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
