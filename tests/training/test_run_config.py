"""Where a run may begin, and from what it goes on: nothing that is there is lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from babywalk.commands.train import train_agent
from babywalk.common.errors import ConfigError

QUICK: dict[str, Any] = {
    "imitation": {"iterations": 2, "batch": 4},
    "reinforce": {"lectures": 0},
    "validate_on": "val_seen:4",
    "threads": 1,
}


def train(data: Path, run: Path, *, resume: bool = False, **settings: Any) -> None:
    train_agent("babywalk", data, run, preset="tiny", settings=settings, resume=resume)


@pytest.fixture(scope="module")
def trained(segmented_dollhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("begun") / "run"
    train(segmented_dollhouse, run, **QUICK)
    return run


def test_a_folder_of_something_else_is_no_place_for_a_run(segmented_dollhouse: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ConfigError, match=r"is not empty, and holds no run\. Give --run a new folder\."):
        train(segmented_dollhouse, tmp_path, **QUICK)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_one_that_was_stopped_before_it_began_is(segmented_dollhouse: Path, tmp_path: Path) -> None:
    """It leaves a lock, and maybe a file that was not finished."""
    (tmp_path / ".lock").touch()
    train(segmented_dollhouse, tmp_path, **QUICK)
    assert (tmp_path / "result.json").exists()


def test_a_run_that_has_ended_is_not_trained_from_its_beginning(
    trained: Path, segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(trained, run)
    weights = (run / "model.safetensors").read_bytes()
    (run / "last.safetensors").unlink()
    with pytest.raises(ConfigError, match=r"has ended, and its checkpoint last\.safetensors is gone"):
        train(segmented_dollhouse, run, resume=True)
    assert (run / "model.safetensors").read_bytes() == weights
    (run / "result.json").unlink()  # as if it had been killed before its first checkpoint
    train(segmented_dollhouse, run, resume=True)
    assert "has no checkpoint yet, and begins anew" in capsys.readouterr().err
    assert (run / "model.safetensors").read_bytes() == weights


def test_what_a_run_sees_is_written_down(trained: Path, segmented_dollhouse: Path, tmp_path: Path) -> None:
    """A source that is imported later and comes first does not take its place."""
    assert json.loads((trained / "config.json").read_text())["features"] == "dollhouse"
    data, run = tmp_path / "data", tmp_path / "run"
    shutil.copytree(segmented_dollhouse, data)
    shutil.copytree(data / "features" / "objects", data / "features" / "aaa")
    shutil.copytree(trained, run)
    train(data, run, resume=True, reinforce={"lectures": 1, "iterations": 1}, features="dollhouse")
    with pytest.raises(ConfigError, match="features cannot be changed any more"):
        train(data, run, resume=True, features="aaa")
