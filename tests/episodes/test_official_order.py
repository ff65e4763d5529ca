"""Joined tasks have the order, ids, texts and distances of the official R4R files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import corridor

from babywalk.assets.r2r import r2r_file, write_walks
from babywalk.buildings.houses import Houses
from babywalk.cli import main
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.joining import TASKS, JoinRule
from babywalk.episodes.task import Task, draw_name, drawn, join_task
from babywalk.episodes.walks import load_walks

# Two houses that alternate in the file, viewpoints 2 m apart. In b the walks are 0, 2 and 4 of the file: from
# 0 to 1, 1 to 2 and 2 to 0; in a walks 1 and 3, both to 1, from 0 and from 2.
R2R = [
    {"scan": "b", "path_id": 70, "path": ["0", "1"], "distance": 2.01, "instructions": ["P. ", "Q."]},
    {"scan": "a", "path_id": 5, "path": ["0", "1"], "distance": 2.0, "instructions": ["R."]},
    {"scan": "b", "path_id": 9, "path": ["1", "2"], "distance": 2.02, "instructions": ["S.", " T."]},
    {"scan": "a", "path_id": 6, "path": ["2", "1"], "distance": 2.0, "instructions": ["U."]},
    {"scan": "b", "path_id": 8, "path": ["2", "1", "0"], "distance": 4.03, "instructions": ["V."]},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = r2r_file(tmp_path, "val")
    file.write_text(json.dumps([{**record, "heading": 0.25 * i} for i, record in enumerate(R2R)]))
    return file


def joined(file: Path, name: str, rule: JoinRule) -> Task:
    houses = Houses.of([corridor("a", 4), corridor("b", 4)])
    return join_task(name, "val", houses, load_walks(file, houses), rule, seed=None)


def test_houses_are_in_the_order_of_their_first_walk_and_pairs_in_the_order_of_the_file(file: Path) -> None:
    task = joined(file, "r4r", TASKS["r4r"])
    # Gaps of at most one edge. In b: 1-0, 1-1, 1-2; 2-1, 2-2 (not 2-0); 0-0, 0-1 (not 0-2).
    assert [tuple(pair) for pair in task.chain.tolist()] == [
        *[(0, 0), (0, 2), (0, 4), (2, 2), (2, 4), (4, 0), (4, 2)],
        *[(1, 1), (1, 3), (3, 1), (3, 3)],
    ]
    walks = list(task.as_walks())
    assert [(walk.path_id, walk.scan) for walk in walks] == [
        *((number, "b") for number in range(7)),
        *((number, "a") for number in range(7, 11)),
    ]
    assert walks[1].path == ("0", "1", "2")
    assert walks[4].path == ("1", "2", "1", "0")
    assert walks[5].heading == 1.0  # of walk 4, the first of the two


def test_instructions_of_the_first_walk_change_slowest_and_one_space_is_added_where_there_is_none(
    file: Path,
) -> None:
    task = joined(file, "r4r", TASKS["r4r"])
    texts = {episode.id: episode.instruction for episode in task if episode.id.startswith("1_")}
    assert texts == {"1_0": "P. S.", "1_1": "P.  T.", "1_2": "Q. S.", "1_3": "Q. T."}


def test_distances_are_sums_over_the_parts(file: Path) -> None:
    walks = list(joined(file, "r4r", TASKS["r4r"]).as_walks())
    assert walks[0].distance == pytest.approx(2.01 + 2.0 + 2.01)
    assert walks[1].distance == 2.01 + 0.0 + 2.02
    assert [walk.distance for walk in joined(file, "r2r", TASKS["r2r"]).as_walks()] == [
        record["distance"] for record in R2R
    ]


def test_r2r_keeps_the_order_of_the_file(file: Path) -> None:
    assert [walk.path_id for walk in joined(file, "r2r", TASKS["r2r"]).as_walks()] == [70, 5, 9, 6, 8]


def test_r6r_and_r8r_follow_the_same_rule(file: Path) -> None:
    # Gaps of 0 m: from walk 0 to 2, from 2 to 4, from 4 to 0.
    assert joined(file, "r6r", TASKS["r6r"]).chain.tolist() == [[0, 2, 4], [2, 4, 0], [4, 0, 2]]
    assert joined(file, "r8r", TASKS["r8r"]).chain.tolist() == [[0, 2, 4, 0], [2, 4, 0, 2], [4, 0, 2, 4]]
    three = joined(file, "r6r", JoinRule(3, 3.0, {})).chain.tolist()
    assert three[:4] == [[0, 0, 0], [0, 0, 2], [0, 0, 4], [0, 2, 2]]
    assert three[-2:] == [[3, 3, 1], [3, 3, 3]]


@pytest.mark.parametrize(
    ("name", "split", "full", "digest"),
    [
        ("r6r", "train", 244_449, "be18bf7c67394941"),
        ("r6r", "val_unseen", 58_320, "366a12d539e4dc40"),
        ("r8r", "train", 1_433_052, "cf36fff1f4e6350c"),
        ("r8r", "val_unseen", 384_264, "a0095615f18e8ff2"),
    ],
)
def test_draw_2_never_changes(name: str, split: str, full: int, digest: str) -> None:
    """If this fails, the draw needs a new number: results on `draw 2` are published."""
    chosen = drawn(full, TASKS[name].published_sizes[split], name, split, seed=0)
    assert hashlib.sha256(chosen.astype("<i8").tobytes()).hexdigest()[:16] == digest
    assert len(np.unique(chosen)) == TASKS[name].published_sizes[split]
    assert (draw_name(2, 0), draw_name(2, 5)) == ("draw 2", "draw 2, seed 5")


def official_r4r(records: list[dict[str, Any]], houses: Houses) -> Iterator[dict[str, Any]]:
    """R4R as other code builds it: loops over houses and over pairs of the records of a house."""
    by_scan: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        by_scan.setdefault(record["scan"], []).append(record)
    for scan, own in by_scan.items():
        number = houses.viewpoints(scan)
        ends = np.array([number[record["path"][-1]] for record in own])
        begins = np.array([number[record["path"][0]] for record in own])
        gaps = houses.distance(ends[:, None], begins).tolist()
        for row, first in enumerate(own):
            for gap, second in zip(gaps[row], own, strict=True):
                if gap <= 3.0:
                    (at, goal), path = (ends[row], number[second["path"][0]]), first["path"][:-1]
                    while at != goal:
                        path = [*path, houses.names[at]]
                        at = houses.step_towards(np.array([at]), np.array([goal]))[0]
                    yield {
                        "distance": first["distance"] + gap + second["distance"],
                        "scan": scan,
                        "path": [*path, *second["path"]],
                        "heading": first["heading"],
                        "instructions": [
                            one + other if one[-1:].isspace() or other[:1].isspace() else f"{one} {other}"
                            for one in first["instructions"]
                            for other in second["instructions"]
                        ],
                    }


def check_export_and_score(
    folder: Path, raw: Path, split: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> int:
    """`data export` equals the official builder, and a perfect result file with its ids scores 100."""
    data = ["--data", str(folder), "--split", split]
    dataset = Dataset(folder)
    expected = [
        {**walk, "path_id": number}
        for number, walk in enumerate(official_r4r(json.loads(raw.read_text()), dataset.houses))
    ]
    assert main(["data", "export", "r4r", *data, str(tmp_path / "r4r.json")]) == 0
    assert json.loads((tmp_path / "r4r.json").read_text()) == expected
    results = [
        {"instr_id": f"{walk['path_id']}_{index}", "trajectory": walk["path"]}
        for walk in expected
        for index in range(len(walk["instructions"]))
    ]
    (tmp_path / "results.json").write_text(json.dumps(results))
    capsys.readouterr()
    assert main(["score", str(tmp_path / "results.json"), *data, "--task", "r4r", "--json"]) == 0
    measures = json.loads(capsys.readouterr().out)["results"][0]["measures"]
    assert {name: measures[name]["mean"] for name in ("SR", "CLS", "nDTW", "SDTW")} == dict.fromkeys(
        ("SR", "CLS", "nDTW", "SDTW"), pytest.approx(1.0, abs=1e-9)
    )
    return len(expected)


def check_r2r_export(folder: Path, raw: Path, split: str, tmp_path: Path) -> None:
    """Every field of every record is written as it was read, to the last digit."""
    out = tmp_path / "r2r.json"
    assert main(["data", "export", "r2r", "--data", str(folder), "--split", split, str(out)]) == 0
    written, read = (json.loads(file.read_text()) for file in (out, raw))
    assert json.dumps(written) == json.dumps(read)


@pytest.mark.parametrize("split", ["train", "val_seen", "val_unseen", "test"])
def test_exported_r2r_of_the_dollhouse_is_the_original(dollhouse: Path, tmp_path: Path, split: str) -> None:
    check_r2r_export(dollhouse, r2r_file(dollhouse / "raw" / "R2R", split), split, tmp_path)


@pytest.mark.parametrize("split", ["val_seen", "val_unseen"])
def test_official_ids_on_the_dollhouse(
    dollhouse: Path, tmp_path: Path, split: str, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = r2r_file(dollhouse / "raw" / "R2R", split)
    assert check_export_and_score(dollhouse, raw, split, tmp_path, capsys) > 20


@pytest.mark.real
@pytest.mark.parametrize("split", ["train", "val_seen", "val_unseen", "test"])
def test_exported_r2r_is_the_original(
    real_dataset: Path, real_data: Path, tmp_path: Path, split: str
) -> None:
    check_r2r_export(real_dataset, r2r_file(real_data / "R2R", split), split, tmp_path)


@pytest.mark.real
@pytest.mark.parametrize(("split", "paths"), [("val_seen", 115), ("val_unseen", 5_026)])
def test_official_ids_on_the_real_data(
    real_dataset: Path,
    real_data: Path,
    tmp_path: Path,
    split: str,
    paths: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    raw = r2r_file(real_data / "R2R", split)
    assert check_export_and_score(real_dataset, raw, split, tmp_path, capsys) == paths


@pytest.mark.real
def test_official_ids_of_the_real_training_split(real_dataset: Path, real_data: Path) -> None:
    task = Dataset(real_dataset).task("r4r", "train")
    records = json.loads(r2r_file(real_data / "R2R", "train").read_text())
    names, count = task.houses.names, 0
    for number, walk in enumerate(official_r4r(records, task.houses)):
        assert [names[viewpoint] for viewpoint in task.paths[number]] == walk["path"]
        count += 1
    assert count == len(task.chain) == 25_921


def test_a_walk_without_a_published_distance_is_exported_with_its_length(file: Path, tmp_path: Path) -> None:
    records = [{**R2R[4], "heading": 0.0}]
    del records[0]["distance"]
    file.write_text(json.dumps(records))
    task = joined(file, "r2r", TASKS["r2r"])
    write_walks(tmp_path / "out.json", task.as_walks())
    assert json.loads((tmp_path / "out.json").read_text())[0]["distance"] == 4.0
