"""Commands that create and describe data directories."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from babywalk.cli import main


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_stats_prints_a_table_or_json(dollhouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("data", "stats", "--data", dollhouse) == 0
    text = capsys.readouterr().out
    assert "train instructions" in text
    assert "R8R" in text
    assert run("data", "stats", "--data", dollhouse, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["houses"] == 4
    assert {row["task"] for row in found["tasks"]} == {"r2r", "r4r", "r6r", "r8r"}


def test_stats_writes_a_figure(dollhouse: Path, tmp_path: Path) -> None:
    assert run("data", "stats", "--data", dollhouse, "--figure", tmp_path / "f.png") == 0
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


def test_importing_the_raw_dollhouse_gives_the_same_files(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raw, data = dollhouse / "raw", tmp_path / "data"
    base = ["data", "import", "--connectivity", raw / "connectivity", "--r2r", raw / "R2R", data]
    assert run(*base) == 0
    assert run("data", "import", "--boxes", raw / "BBox", "--rooms", raw / "rooms", data) == 0
    assert run("data", "import", "--features", f"views={raw / 'features' / 'dollhouse.tsv'}", data) == 0
    assert run("data", "build", "r4r", "r8r", "--data", data, "--splits", "val_unseen", "--all") == 0
    assert run("data", "verify", data) == 0
    text = capsys.readouterr().out
    assert "features objects: names" in text
    assert "All files match their manifests." in text
    for file in ("r2r/R2R_train.json", "features/objects/views.npy"):
        assert (data / file).read_bytes() == (dollhouse / file).read_bytes()


def test_fetch_lists_the_assets(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("data", "fetch") == 0
    text = capsys.readouterr().out
    for name in ("connectivity", "r2r", "boxes", "resnet-imagenet", "semantic-features"):
        assert name in text


def test_verify_reports_a_missing_file(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    shutil.copytree(dollhouse, data, ignore=shutil.ignore_patterns("raw", "features"))
    (data / "r2r" / "R2R_train.json").unlink()
    assert run("data", "verify", data) == 2
    assert "1 files differ from their manifests: r2r/R2R_train.json is missing." in capsys.readouterr().err


def test_a_failed_import_leaves_no_files(dollhouse: Path, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    shutil.copytree(dollhouse / "raw" / "connectivity", raw / "connectivity")
    (raw / "R2R").mkdir()
    text = (dollhouse / "raw" / "R2R" / "R2R_train.json").read_text()
    (raw / "R2R" / "R2R_train.json").write_text(text[: len(text) // 2])
    code = run(
        "data", "import", "--connectivity", raw / "connectivity", "--r2r", raw / "R2R", tmp_path / "data"
    )
    assert code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["raw"]
