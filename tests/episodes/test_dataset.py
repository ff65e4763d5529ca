from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from babywalk.assets.r2r import r2r_file, read_walks, write_walks
from babywalk.common.errors import ConfigError, DataError
from babywalk.episodes import joining
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.joining import JoinRule
from babywalk.episodes.statistics import statistics


@pytest.fixture
def own(dollhouse: Path, tmp_path: Path) -> Dataset:
    """A copy of the built-in data that a test may change."""
    shutil.copytree(dollhouse, tmp_path / "data", ignore=shutil.ignore_patterns("raw", "features"))
    return Dataset(tmp_path / "data")


def test_splits_and_tasks_of_a_data_directory(dollhouse: Path) -> None:
    dataset = Dataset(dollhouse)
    assert dataset.splits == ("train", "val_seen", "val_unseen", "test")
    assert dataset.tasks() == ["r2r", "r4r", "r6r", "r8r"]
    assert not dataset.has("r4r", "test")
    assert len(dataset.houses) == 4


def test_val_seen_shares_houses_with_train_and_val_unseen_does_not(dollhouse: Path) -> None:
    dataset = Dataset(dollhouse)
    seen = {
        split: set(dataset.houses.house_of[dataset.walks(split).paths.firsts]) for split in dataset.splits
    }
    assert seen["val_seen"] <= seen["train"]
    assert not seen["val_unseen"] & seen["train"]
    paths = {
        split: {tuple(walk.path) for walk in read_walks(r2r_file(dollhouse / "r2r", split))}
        for split in ("train", "val_seen")
    }
    assert not paths["train"] & paths["val_seen"]


def test_a_built_task_is_read_unchanged(own: Dataset) -> None:
    built = own.build("r6r", "val_unseen", full=True)
    read = own.task("r6r", "val_unseen")
    assert len(read) == len(built)
    assert read[len(read) // 2] == built[len(built) // 2]
    assert read.ids(np.arange(3)) == built.ids(np.arange(3))


def test_split_and_number_give_a_seeded_sample(own: Dataset) -> None:
    sample = own.task("r4r", "val_unseen:10", seed=3)
    assert len(sample) == 10
    assert [e.id for e in sample] == [e.id for e in own.task("r4r", "val_unseen:10", seed=3)]
    assert [e.id for e in sample] != [e.id for e in own.task("r4r", "val_unseen:10", seed=4)]


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [
        ("r4r", "val_unsen", r"Split 'val_unsen' is not known\. Did you mean 'val_unseen'\?"),
        ("r4r", "val_unseen:many", r"Write SPLIT or SPLIT:NUMBER, for example val_unseen:500"),
        ("r4r", "val_unseen:0", r"A sample size of 0 is out of range"),
        ("r3r", "train", r"Task 'r3r' is not known"),
    ],
)
def test_an_invalid_task_or_split_is_rejected(own: Dataset, name: str, split: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        own.task(name, split)


def test_a_missing_task_names_the_build_command(own: Dataset) -> None:
    shutil.rmtree(own.folder / "r8r")
    with pytest.raises(DataError, match=r"has no r8r for train\. Run 'babywalk data build r8r"):
        own.task("r8r", "train")


def test_a_task_built_from_other_walks_is_rejected(own: Dataset) -> None:
    file = r2r_file(own.folder / "r2r", "val_seen")
    write_walks(file, read_walks(file)[:-1])
    (file.parent / "manifest.json").unlink()  # else the changed file itself is rejected
    with pytest.raises(DataError, match="was built from different R2R walks"):
        Dataset(own.folder).task("r4r", "val_seen")


def test_a_task_built_by_an_older_version_is_rejected(own: Dataset) -> None:
    manifest = own.folder / "r4r" / "val_seen" / "manifest.json"
    fields = json.loads(manifest.read_text())
    assert fields["details"].pop("format") == 2
    del fields["sha256"]  # else the changed file itself is rejected
    manifest.write_text(json.dumps(fields))
    with pytest.raises(DataError, match=r"another version.* official ids\. Run 'babywalk data build r4r"):
        own.task("r4r", "val_seen")


def test_the_draw_of_a_task_is_stored_and_named(own: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(joining.TASKS, "r6r", JoinRule(3, 0.5, {"val_seen": 10}))
    built = own.build("r6r", "val_seen", seed=3)
    read = own.task("r6r", "val_seen")
    assert read.draw == built.draw == "draw 2, seed 3"
    assert read.ids(np.arange(10)) == built.ids(np.arange(10))
    assert own.task("r6r", "val_seen:4").draw == "draw 2, seed 3"
    assert own.build("r6r", "val_seen").draw == "draw 2"
    assert own.build("r6r", "val_seen", full=True).draw is None
    (row,) = (row for row in statistics(own).tasks if (row.task, row.split) == ("r4r", "val_seen"))
    assert row.draw is None


def test_r2r_and_test_splits_cannot_be_built(own: Dataset) -> None:
    with pytest.raises(ConfigError, match="r2r needs no building"):
        own.build("r2r", "train")
    with pytest.raises(
        ConfigError, match="r4r cannot be built for test: the goals of its walks are not published"
    ):
        own.build("r4r", "test")


def test_another_folder_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"is not a data directory\. Create one with"):
        Dataset(tmp_path)
