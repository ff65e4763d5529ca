"""Importing raw files: refused text and numbers, and imports that fail half-way."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from babywalk.cli import main
from babywalk.common.errors import DataError
from babywalk.common.files import sha256
from babywalk.episodes import importing
from babywalk.episodes.importing import RawFiles, import_data


@pytest.fixture
def raw(dollhouse: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "raw"
    shutil.copytree(dollhouse / "raw", folder)
    return folder


def base(raw: Path) -> RawFiles:
    return RawFiles(connectivity=raw / "connectivity", r2r=raw / "R2R")


def contents(folder: Path) -> dict[str, str]:
    """The hash of every file, without the cache."""
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    names = {file.relative_to(folder).as_posix(): file for file in files}
    return {name: sha256(file) for name, file in names.items() if not name.startswith("cache/")}


def change(file: Path, edit: Callable[[Any], None]) -> None:
    value = json.loads(file.read_text())
    edit(value)
    file.write_text(json.dumps(value))


def test_an_import_that_fails_leaves_an_existing_directory_as_it_was(raw: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    import_data(base(raw), data)
    before = contents(data)
    change(raw / "R2R" / "R2R_val_seen.json", lambda walks: walks[0].update(instructions=["Another one."]))
    (raw / "train_vocab.txt").write_text("a\nb\n")
    (raw / "train_glove.npy").write_bytes(b"not an array")
    both = RawFiles(
        connectivity=raw / "connectivity",
        r2r=raw / "R2R",
        features=(("views", raw / "features" / "dollhouse.tsv"),),
        glove=(raw / "train_vocab.txt", raw / "train_glove.npy"),
    )
    with pytest.raises(DataError, match=r"train_glove\.npy: is not a NumPy file of numbers"):
        import_data(both, data)
    assert contents(data) == before


def test_an_import_that_fails_while_folders_are_moved_leaves_an_existing_directory_as_it_was(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    import_data(base(raw), data)
    before = contents(data)
    change(raw / "R2R" / "R2R_val_seen.json", lambda walks: walks[0].update(instructions=["Another one."]))
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if target == data / "r2r" and ".import." in str(self) and "replaced" not in str(self):
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(importing.Path, "rename", failing)
    with pytest.raises(OSError, match="No space left"):
        import_data(base(raw), data)
    monkeypatch.undo()
    assert contents(data) == before


def test_a_second_import_replaces_only_what_it_imports(raw: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    import_data(base(raw), data)
    before = contents(data)
    change(raw / "R2R" / "R2R_val_seen.json", lambda walks: walks[0].update(instructions=["Another one."]))
    import_data(RawFiles(r2r=raw / "R2R", features=(("views", raw / "features" / "dollhouse.tsv"),)), data)
    after = contents(data)
    changed = {name for name in after if before.get(name) != after[name]}
    views = {f"features/views/{name}" for name in ("manifest.json", "panorama.npy", "views.npy")}
    assert changed == {"r2r/R2R_val_seen.json", "r2r/manifest.json"} | views
    assert before.keys() <= after.keys()
    assert not [file.name for file in data.iterdir() if file.name.startswith(".")]


@pytest.mark.parametrize("path_id", [2**63, 10**30, -(2**63) - 1, "9" * 19])
def test_path_ids_beyond_64_bits_are_refused(raw: Path, tmp_path: Path, path_id: int | str) -> None:
    change(raw / "R2R" / "R2R_train.json", lambda walks: walks[2].update(path_id=path_id))
    with pytest.raises(DataError, match=r"R2R_train\.json: record 2: field 'path_id' is .*an integer"):
        import_data(base(raw), tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_the_largest_path_id_is_imported(raw: Path, tmp_path: Path) -> None:
    change(raw / "R2R" / "R2R_train.json", lambda walks: walks[2].update(path_id=2**63 - 1))
    import_data(base(raw), tmp_path / "data")
    file = tmp_path / "out.json"
    assert (
        main(["data", "export", "r2r", "--data", str(tmp_path / "data"), "--split", "train", str(file)]) == 0
    )
    assert json.loads(file.read_text())[2]["path_id"] == 2**63 - 1


def test_text_with_half_of_a_surrogate_pair_is_refused(raw: Path, tmp_path: Path) -> None:
    change(raw / "R2R" / "R2R_train.json", lambda walks: walks[0].update(instructions=["Go \ud83d left."]))
    with pytest.raises(DataError, match=r"R2R_train\.json: a text has half of a surrogate pair.*Go "):
        import_data(base(raw), tmp_path / "data")


def test_text_with_whole_surrogate_pairs_is_imported(raw: Path, tmp_path: Path) -> None:
    change(
        raw / "R2R" / "R2R_train.json", lambda walks: walks[0].update(instructions=["Go \U0001f6aa left."])
    )
    assert "\\ud83d" in (raw / "R2R" / "R2R_train.json").read_text()
    assert any(line.startswith("r2r train") for line in import_data(base(raw), tmp_path / "data").lines)


@pytest.mark.skipif(os.name == "nt", reason="Windows names are Unicode")
@pytest.mark.parametrize("folder", ["connectivity", "R2R"])
def test_file_names_that_are_not_utf8_are_refused(
    raw: Path, tmp_path: Path, folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = next((raw / folder).glob("*.json"))
    name = os.fsencode(source.name).replace(b".json", b"").replace(b"_connectivity", b"")
    ending = b"\xff_connectivity.json" if folder == "connectivity" else b"\xff.json"
    shutil.copyfile(source, os.fsencode(raw / folder) + b"/" + name + ending)
    arguments = ["--connectivity", str(raw / "connectivity"), "--r2r", str(raw / "R2R")]
    assert main(["data", "import", *arguments, str(tmp_path / "data")]) == 2
    error = capsys.readouterr().err
    assert "is not UTF-8. Rename or remove the file." in error
    assert error.count("\n") == 1


def test_an_empty_split_is_refused_by_evaluate_and_described_by_stats(
    raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (raw / "R2R" / "R2R_none.json").write_text("[]")
    data = str(tmp_path / "data")
    import_data(base(raw), Path(data))
    for extra in ([], ["--trajectories", str(tmp_path / "walked")]):
        assert main(["evaluate", "oracle", "--data", data, "--split", "none", *extra]) == 2
        assert capsys.readouterr().err == "babywalk: r2r none has no episodes. Choose another split.\n"
    assert main(["data", "build", "r4r", "--data", data]) == 0
    assert main(["data", "stats", "--data", data]) == 0
    assert main(["data", "export", "r4r", "--data", data, "--split", "none", str(tmp_path / "o.json")]) == 0
    assert json.loads((tmp_path / "o.json").read_text()) == []
