from __future__ import annotations

from pathlib import Path

import pytest

from babywalk.assets.manifest import component, details, read_manifest, verify
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


def test_a_component_knows_its_files(data: Path) -> None:
    manifest = read_manifest(data / "houses").fields
    assert manifest["what"] == "some houses"
    assert manifest["notes"] == ["free"]
    assert details(data / "houses").fields == {"n": 1, "m": 2}
    assert manifest["files"]["inner/file.txt"]["bytes"] == 5


def test_all_is_well(data: Path) -> None:
    (data / "cache").mkdir()
    (data / "cache" / "derived.npz").write_bytes(b"whatever")
    found = verify(data)
    assert (found.components, found.files, found.bytes, found.findings) == (2, 2, 10, ())


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda file: file.unlink(), "is missing"),
        (lambda file: file.write_text("wall"), "has 4 bytes instead of 5"),
        (lambda file: file.write_text("balls"), "has other content than its SHA-256 says"),
        (lambda file: file.with_name("new.txt").write_text("?"), "is in no manifest"),
    ],
)
def test_each_kind_of_damage_is_found(data: Path, change: object, problem: str) -> None:
    change(data / "houses" / "inner" / "file.txt")
    (finding,) = verify(data).findings
    assert finding.problem == problem
    assert finding.file.startswith("houses/inner/")


def test_a_failed_draft_leaves_the_old_component(data: Path) -> None:
    def fail() -> None:
        with component(data / "houses", "new") as draft:
            (draft.folder / "half").write_text("...")
            raise RuntimeError("out of luck")

    with pytest.raises(RuntimeError, match="out of luck"):
        fail()
    assert read_manifest(data / "houses").fields["what"] == "some houses"
    assert sorted(path.name for path in data.iterdir()) == ["houses", "walks"]


def test_a_new_draft_takes_the_place_of_the_old_component(data: Path) -> None:
    with component(data / "houses", "new"):
        pass
    assert read_manifest(data / "houses").fields["files"] == {}
    assert sorted(path.name for path in data.iterdir()) == ["houses", "walks"]


def test_a_manifest_cannot_reach_outside(data: Path) -> None:
    file = data / "houses" / "manifest.json"
    write_json(file, {"files": {"../walks/inner/file.txt": {"bytes": 1, "sha256": "0"}}})
    with pytest.raises(DataError, match=r"lies outside the folder of its manifest"):
        verify(data)


def test_not_a_data_directory(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a data directory of BabyWalk"):
        verify(tmp_path)
    with pytest.raises(DataError, match="there is no such folder"):
        verify(tmp_path / "none")
