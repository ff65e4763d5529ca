"""Augmented splits: which walks they have, and what happens when the command is killed."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from babywalk.agents.agent import Index
from babywalk.assets.data_directory import verify
from babywalk.cli import main
from babywalk.commands import augment as augment_module
from babywalk.commands.augment import augment
from babywalk.common.errors import ConfigError
from babywalk.common.ragged import Ragged
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.task import Task
from babywalk.modules.speaker import Speaker
from babywalk.navigation.trajectories import Trajectories

QUICK = {"hidden": 8, "epochs": 2}
OPTIONS = ["--walks", "600", "--temperature", "0.5", "--set", "hidden=8", "epochs=2"]
# Runs the command of its arguments, and is killed like with `kill -9` when a function is called the nth time.
KILLED = """
import os, signal, sys
import {module}
from babywalk.cli import main
real, calls = {module}.{name}, 0
def killing(*arguments, **options):
    global calls
    calls += 1
    if calls == {nth}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **options)
{module}.{name} = killing
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def data(segmented_dollhouse: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(segmented_dollhouse, tmp_path / "data"))


def kill(arguments: list[str], module: str, name: str, nth: int) -> None:
    code = KILLED.format(module=module, name=name, nth=nth)
    done = subprocess.run([sys.executable, "-c", code, *arguments], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL


def test_a_killed_command_goes_on_and_ends_with_the_same_split(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Path(shutil.copytree(data, tmp_path / "whole"))
    assert main(["data", "augment", "--data", str(whole), *OPTIONS]) == 0
    command = ["data", "augment", "--data", str(data), *OPTIONS]
    work = data / "cache" / "speaker"
    kill(command, "babywalk.common.fitting", "_save", 2)  # in the second epoch
    assert len(list(work.glob("training-*.safetensors"))) == 1
    assert not (data / "speaker").exists()
    kill(command, "babywalk.commands.augment", "write_json", 2)  # in the second of three batches of texts
    assert not list(work.glob("training-*"))
    assert [file.name for file in work.glob("texts-*/*.json")] == ["0.json"]
    assert "augmented" not in Dataset(data).splits
    batches, encode = [], Speaker.encode
    monkeypatch.setattr(
        Speaker, "encode", lambda self, paths, views: batches.append(len(paths)) or encode(self, paths, views)
    )
    assert main(command) == 0
    assert batches == [256, 88]  # of 600; the first 256 were described before
    for file in ("speaker/weights.safetensors", "r2r/R2R_augmented.json"):
        assert (data / file).read_bytes() == (whole / file).read_bytes()
    assert not list(work.glob("texts-*"))
    assert not verify(data).findings


def test_a_damaged_batch_of_texts_is_made_again(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    augment(data, 300, "augmented", settings=QUICK)
    expected = (data / "r2r" / "R2R_augmented.json").read_bytes()
    monkeypatch.setattr(augment_module, "save_split", interrupt)
    with pytest.raises(KeyboardInterrupt):
        augment(data, 300, "augmented")
    monkeypatch.undo()
    (batch,) = (data / "cache" / "speaker").glob("texts-*/0.json")
    batch.write_text(batch.read_text().replace("[[", "[[3, ", 1))
    augment(data, 300, "augmented")
    assert (data / "r2r" / "R2R_augmented.json").read_bytes() == expected


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_walks_are_in_training_houses_and_repeat_no_human_path(data: Path) -> None:
    augment(data, 100_000, "augmented", settings=QUICK)
    dataset = Dataset(data)
    houses, augmented = dataset.houses, dataset.walks("augmented")
    trained = set(houses.house_of[dataset.walks("train").paths.firsts].tolist())
    assert set(houses.house_of[augmented.paths.values].tolist()) == trained
    human = {
        tuple(paths[row])
        for split in ("train", "val_seen", "val_unseen")
        for paths in [dataset.walks(split).paths]
        for row in range(len(paths))
    }
    new = [tuple(augmented.paths[row]) for row in range(len(augmented))]
    assert len(new) > 1000
    assert len(set(new)) == len(new)
    assert not human & set(new)


class HalfWay:
    """Walks the reference path of every second episode, and stays at the start of the others."""

    def walk(self, task: Task, episodes: Index) -> Trajectories:
        paths = task.paths.take(task.chain_of(episodes))
        walked = Ragged.of([paths[row] if row % 2 else paths[row][:1] for row in range(len(paths))])
        return Trajectories(walked, Ragged(np.zeros_like(walked.values), walked.start))


def test_only_walks_that_a_follower_walks_again_are_kept(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    augment(data, 21, "augmented", settings=QUICK)
    monkeypatch.setattr(augment_module, "load_agent", lambda *_: HalfWay())
    arguments = ["--walks", "21", "--split", "checked", "--retraced-by", "runs/x", "--min-ndtw", "0.9"]
    assert main(["data", "augment", "--data", str(data), *arguments]) == 0
    assert "Walked again by the agent: 10 of 21 walks." in capsys.readouterr().out
    dataset = Dataset(data)
    every, kept = dataset.walks("augmented"), dataset.walks("checked")
    assert kept.texts == every.texts[1::2]
    assert kept.paths.values.tolist() == every.paths.take(np.arange(1, 21, 2)).values.tolist()
    assert kept.headings.tolist() == every.headings[1::2].tolist()
    made = augment(data, 21, "checked", retraced_by=Path("runs/x"), min_ndtw=0.0)
    assert (made.walks, made.sampled) == (21, 21)


def test_nothing_is_written_if_the_follower_walks_no_path_again(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(augment_module, "load_agent", lambda *_: HalfWay())
    monkeypatch.setattr(augment_module, "retraced", lambda *_: np.full(9, 0.4))
    with pytest.raises(ConfigError, match=r"runs/x: walked none of the 9 paths again .* Lower --min-ndtw"):
        augment(data, 9, "checked", settings=QUICK, retraced_by=Path("runs/x"))
    assert "checked" not in Dataset(data).splits
