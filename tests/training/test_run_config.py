"""Run directories: where a run may start, what it resumes with, and what config.json contains."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import babywalk
from babywalk.commands.train import train_agent
from babywalk.common.errors import ConfigError, DataError
from babywalk.training.run_config import read_run_config

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
    run = tmp_path_factory.mktemp("run_config") / "run"
    train(segmented_dollhouse, run, **QUICK)
    return run


def test_folder_with_other_files_is_refused(segmented_dollhouse: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ConfigError, match=r"is not empty and contains no run\. Give --run a new folder\."):
        train(segmented_dollhouse, tmp_path, **QUICK)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_folder_of_a_run_that_was_stopped_before_it_started_is_accepted(
    segmented_dollhouse: Path, tmp_path: Path
) -> None:
    """Such a run leaves a lock, and maybe an unfinished hidden file."""
    (tmp_path / ".lock").touch()
    train(segmented_dollhouse, tmp_path, **QUICK)
    assert (tmp_path / "result.json").exists()


def test_finished_run_without_checkpoint_is_not_trained_again(
    trained: Path, segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(trained, run)
    weights = (run / "model.safetensors").read_bytes()
    (run / "last.safetensors").unlink()
    with pytest.raises(ConfigError, match=r"has finished .*: its checkpoint last\.safetensors is missing"):
        train(segmented_dollhouse, run, resume=True)
    assert (run / "model.safetensors").read_bytes() == weights
    (run / "result.json").unlink()  # as if it was killed before its first checkpoint
    train(segmented_dollhouse, run, resume=True)
    assert "has no checkpoint yet and starts again" in capsys.readouterr().err
    assert (run / "model.safetensors").read_bytes() == weights


def test_features_are_kept_with_the_run(trained: Path, segmented_dollhouse: Path, tmp_path: Path) -> None:
    """A source that is imported later and sorted first does not replace them."""
    assert json.loads((trained / "config.json").read_text())["features"] == "dollhouse"
    data, run = tmp_path / "data", tmp_path / "run"
    shutil.copytree(segmented_dollhouse, data)
    shutil.copytree(data / "features" / "objects", data / "features" / "aaa")
    shutil.copytree(trained, run)
    train(data, run, resume=True, reinforce={"lectures": 1, "iterations": 1}, features="dollhouse")
    with pytest.raises(ConfigError, match="features can no longer be changed"):
        train(data, run, resume=True, features="aaa")


def test_config_without_format_asks_to_train_again_or_convert(
    trained: Path, segmented_dollhouse: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(trained, run)
    config = json.loads((run / "config.json").read_text())
    assert config.pop("format") == 2
    (run / "config.json").write_text(json.dumps(config))
    before = {file: file.read_bytes() for file in run.rglob("*") if file.is_file()}
    message = (
        f"{run / 'config.json'}: was written by an older version of BabyWalk. Train the run again, "
        "or convert its model with tools/convert_weights.py."
    )
    for read in (
        lambda: read_run_config(run),
        lambda: train(segmented_dollhouse, run, resume=True),
        lambda: babywalk.load(run),
    ):
        with pytest.raises(ConfigError) as error:
            read()
        assert str(error.value) == message
    assert {file: file.read_bytes() for file in run.rglob("*") if file.is_file()} == before


def test_config_of_a_newer_version_is_refused(trained: Path, tmp_path: Path) -> None:
    config = json.loads((trained / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "format": 3}))
    with pytest.raises(ConfigError, match=r"config\.json: has the format 3; expected 2\. It was written by"):
        read_run_config(tmp_path)


def test_directory_without_config_is_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"is not a run directory: it contains no config\.json\."):
        read_run_config(tmp_path)


def test_config_is_read_as_it_was_written(trained: Path, segmented_dollhouse: Path) -> None:
    found = read_run_config(trained)
    assert (found.agent, found.recipe, found.preset) == ("babywalk", None, "tiny")
    assert found.data == segmented_dollhouse.resolve()
    assert found.config().imitation.iterations == 2
    assert found.config({"seed": 5}).seed == 5
