from __future__ import annotations

from pathlib import Path

import pytest

from babywalk.assets.data_directory import component, details, read_manifest, verify
from babywalk.common.errors import DataError
from babywalk.common.files import write_json


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, text in (("houses", "walls"), ("walks", "steps")):
        with component(tmp_path / name, f"some {name}", notes=["free"], details={"n": 1}) as draft:
            (draft.folder / "inner").mkdir()
            (draft.folder / "inner" / "file.txt").write_text(text)
            draft.details["m"] = 2
    return tmp_path


def test_a_manifest_lists_the_files_of_a_component(data: Path) -> None:
    manifest = read_manifest(data / "houses").fields
    assert manifest["what"] == "some houses"
    assert manifest["notes"] == ["free"]
    assert details(data / "houses").fields == {"n": 1, "m": 2}
    assert manifest["files"]["inner/file.txt"]["bytes"] == 5


def test_an_intact_directory_has_no_findings(data: Path) -> None:
    (data / "cache").mkdir()
    (data / "cache" / "derived.npz").write_bytes(b"whatever")
    found = verify(data)
    assert (found.components, found.files, found.bytes, found.findings) == (2, 2, 10, ())


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda file: file.unlink(), "is missing"),
        (lambda file: file.write_text("wall"), "has 4 bytes instead of 5"),
        (lambda file: file.write_text("balls"), "does not match its SHA-256"),
        (lambda file: file.with_name("new.txt").write_text("?"), "is not in a manifest"),
    ],
)
def test_changed_files_are_reported(data: Path, change: object, problem: str) -> None:
    change(data / "houses" / "inner" / "file.txt")
    (finding,) = verify(data).findings
    assert finding.problem == problem
    assert finding.file.startswith("houses/inner/")


def test_a_failed_write_keeps_the_old_component(data: Path) -> None:
    def fail() -> None:
        with component(data / "houses", "new") as draft:
            (draft.folder / "half").write_text("...")
            raise RuntimeError("failed")

    with pytest.raises(RuntimeError, match="failed"):
        fail()
    assert read_manifest(data / "houses").fields["what"] == "some houses"
    assert sorted(path.name for path in data.iterdir()) == ["houses", "walks"]


def test_a_new_component_replaces_the_old_one(data: Path) -> None:
    with component(data / "houses", "new"):
        pass
    assert read_manifest(data / "houses").fields["files"] == {}
    assert sorted(path.name for path in data.iterdir()) == ["houses", "walks"]


def test_files_outside_a_component_are_rejected(data: Path) -> None:
    file = data / "houses" / "manifest.json"
    write_json(file, {"files": {"../walks/inner/file.txt": {"bytes": 1, "sha256": "0"}}})
    with pytest.raises(DataError, match=r"is outside the folder of its manifest"):
        verify(data)


def test_a_folder_without_manifests_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a data directory"):
        verify(tmp_path)
    with pytest.raises(DataError, match="folder not found"):
        verify(tmp_path / "none")
