"""The data set on disk, read back through the readers of the real data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from babywalk.assets.boxes import boxes_files, read_boxes
from babywalk.assets.categories import read_categories
from babywalk.assets.connectivity import connectivity_files, read_connectivity
from babywalk.assets.dollhouse import DollhouseConfig, write_dollhouse
from babywalk.assets.fine_grained import fine_grained_file, read_fine_grained
from babywalk.assets.r2r import r2r_file, read_walks
from babywalk.assets.rooms import read_rooms
from babywalk.assets.tokens import tokenise
from babywalk.assets.view_features import read_view_features
from babywalk.common.errors import ConfigError
from babywalk.common.files import sha256

SPLITS = ("train", "val_seen", "val_unseen", "test")


def digests(folder: Path) -> dict[str, str]:
    return {
        str(file.relative_to(folder)): sha256(file) for file in sorted(folder.rglob("*")) if file.is_file()
    }


def test_every_split_reads_back(dataset, small):
    counts = {split: len(read_walks(r2r_file(dataset / "R2R", split))) for split in SPLITS}
    assert counts == {"train": 40, "val_seen": 8, "val_unseen": 12, "test": 3}


def test_path_ids_are_unique_over_all_splits(dataset):
    ids = [walk.path_id for split in SPLITS for walk in read_walks(r2r_file(dataset / "R2R", split))]
    assert len(set(ids)) == len(ids)


def test_unseen_houses_have_no_training_walks(dataset):
    scans = {split: {w.scan for w in read_walks(r2r_file(dataset / "R2R", split))} for split in SPLITS}
    assert scans["train"] == scans["val_seen"]
    assert scans["val_unseen"] == scans["test"]
    assert not scans["train"] & scans["val_unseen"]


def test_val_seen_walks_are_not_in_train(dataset):
    train, val = (
        {walk.path for walk in read_walks(r2r_file(dataset / "R2R", split))}
        for split in ("train", "val_seen")
    )
    assert not train & val


def test_walks_follow_the_graph_and_have_three_instructions(dataset):
    houses = {
        file.name.split("_connectivity")[0]: read_connectivity(file)
        for file in connectivity_files(dataset / "connectivity")
    }
    for split in SPLITS[:3]:
        for walk in read_walks(r2r_file(dataset / "R2R", split)):
            house = houses[walk.scan]
            nodes = [house.viewpoints.index(name) for name in walk.path]
            assert house.unobstructed[nodes[:-1], nodes[1:]].all()
            assert len(walk.instructions) == 3
            length = np.linalg.norm(np.diff(house.positions[nodes], axis=0), axis=1).sum()
            assert walk.distance == pytest.approx(length, abs=0.006)


def test_the_test_split_has_only_starts(dataset):
    for walk in read_walks(r2r_file(dataset / "R2R", "test")):
        assert len(walk.path) == 1
        assert walk.distance is None
    assert not fine_grained_file(dataset / "fgr2r", "test").exists()


def test_neighbours_see_each_other(dataset):
    for file in connectivity_files(dataset / "connectivity"):
        house = read_connectivity(file)
        assert house.visible[house.unobstructed].all()
        assert house.visible.sum() > house.unobstructed.sum()


def test_every_viewpoint_has_features_boxes_and_a_room(dataset, small):
    places = {
        (house.scan, name)
        for house in map(read_connectivity, connectivity_files(dataset / "connectivity"))
        for name in house.viewpoints
    }
    panoramas = list(read_view_features(dataset / "features" / "dollhouse.tsv"))
    assert {(p.scan, p.viewpoint) for p in panoramas} == places
    assert {p.views.shape for p in panoramas} == {(36, small.width)}
    assert set(read_rooms(dataset / "rooms")) == places
    boxes = [read_boxes(file) for file in boxes_files(dataset / "BBox")]
    assert {(b.scan, b.viewpoint) for b in boxes} == places
    names = {item.name for b in boxes for item in b.objects}
    assert names <= set(read_categories(dataset / "category_mapping.tsv"))
    assert len(names) > 40


def test_sub_instructions_cover_the_instructions_and_paths(dataset):
    for split in SPLITS[:3]:
        walks = read_walks(r2r_file(dataset / "R2R", split))
        parts = read_fine_grained(fine_grained_file(dataset / "fgr2r", split))
        assert [part.walk for part in parts] == walks
        for part in parts:
            for text, steps in zip(part.walk.instructions, part.steps, strict=True):
                assert [word for step in steps for word in step.words] == tokenise(text)
                assert steps[0].first == 0
                assert steps[-1].last == len(part.walk.path) - 1


def test_plans_have_the_fields_for_drawing(dataset):
    plan = json.loads((dataset / "plans" / "dollhouse_000.json").read_text())
    for floor in plan["floors"]:
        assert {"rooms", "walls", "doors", "stairs", "furniture"} == set(floor)
        assert {"name", "x0", "y0", "x1", "y1"} <= set(floor["rooms"][0])


def test_the_same_config_gives_the_same_bytes_in_another_process(dataset, small, tmp_path):
    script = (
        "from pathlib import Path; from babywalk.assets.dollhouse import *; "
        f"write_dollhouse(Path({str(tmp_path)!r}), {small!r})"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=os.environ | {"PYTHONHASHSEED": "12345"})
    assert digests(tmp_path) == digests(dataset)


def test_another_seed_gives_other_data(dataset, small, tmp_path):
    write_dollhouse(tmp_path, replace(small, houses=2, seed=small.seed + 1))
    mine, other = digests(tmp_path), digests(dataset)
    assert mine["R2R/R2R_train.json"] != other["R2R/R2R_train.json"]
    assert mine["category_mapping.tsv"] == other["category_mapping.tsv"]
    assert all((tmp_path / "R2R" / f"R2R_{split}.json").stat().st_size > 10 for split in SPLITS)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"houses": 1}, "houses = 1 is out of range; it must be at least 2"),
        ({"houses": 1001}, "houses = 1001 is out of range; it must be at most 1000"),
        ({"width": 0}, "width = 0 is out of range; it must be at least 1"),
        ({"noise": -0.1}, "noise = -0.1 is out of range; it must be at least 0"),
        ({"noise": float("nan")}, "noise = nan is out of range; it must be at least 0"),
        ({"instructions": 6}, "instructions = 6 is out of range; it must be at most 5"),
        ({"train_paths": 0, "seed": -1}, "seed = -1 is out of range.* train_paths = 0 is out of range"),
    ],
)
def test_a_setting_out_of_range_is_rejected(wrong, message):
    with pytest.raises(ConfigError, match=message):
        DollhouseConfig(**wrong)


def test_every_fifth_house_is_unseen_by_default():
    config = DollhouseConfig()
    assert config.unseen_houses == 6
    assert config.paths(23) == {"train": 60, "val_seen": 8}
    assert config.paths(24) == {"val_unseen": 30, "test": 8}
