from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from babywalk.assets.data_directory import (
    component,
    details,
    finish_imports,
    read_manifest,
    replace_components,
    staging,
    verify,
)
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


def state(data: Path) -> str:
    """The components of a made-up data directory, with the first letter of what they say; all are valid."""
    names = ("features/one", "houses", "walks")
    found = sorted(file.parent.relative_to(data).as_posix() for file in data.rglob("manifest.json"))
    assert set(found) <= set(names)
    assert not verify(data).findings
    assert not [file for file in data.iterdir() if file.name.startswith(".")]
    return " ".join(f"{name}:{read_manifest(data / name).string('what')[0]}" for name in found)


def stage(staged: Path) -> list[str]:
    for name in ("features/one", "houses"):
        with component(staged / name, "new") as draft:
            (draft.folder / "file.txt").write_text("n")
    return ["features/one", "houses"]


OLD, NEW = "houses:s walks:s", "features/one:n houses:n walks:s"

# Kills itself at its number-th change of the file system: in the moves of an import, or in their completion.
KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from babywalk.assets.data_directory import finish_imports, replace_components, staging
from test_data_directory import stage

what, data, number = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
left = iter(range(number, -1, -1))

def killing(change):
    def changed(*arguments, **options):
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return change(*arguments, **options)
    return changed

def watch():
    for name in ("rename", "replace", "unlink"):
        setattr(Path, name, killing(getattr(Path, name)))
    os.rmdir = killing(os.rmdir)

if what == "import":
    with staging(data) as staged:
        places = stage(staged)
        watch()
        replace_components(staged, places)
else:
    watch()
    finish_imports(data)
"""


def run_until_killed(what: str, data: Path, number: int) -> bool:
    """Whether a process of this kind was killed, at its number-th change, before it ended."""
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", KILLED, what, str(data), str(number)],
        env={**os.environ, "PYTHONPATH": paths},
        check=False,
    )
    assert done.returncode in (0, -signal.SIGKILL)
    return done.returncode != 0


@pytest.mark.skipif(os.name == "nt", reason="kill -9 is not on Windows")
def test_an_import_that_is_killed_at_any_change_leaves_the_old_or_the_new_state(
    data: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = []
    for number in range(100):
        copied = tmp_path_factory.mktemp("killed") / "data"
        shutil.copytree(data, copied)
        if not run_until_killed("import", copied, number):
            break
        run_until_killed("finish", copied, number)  # the completion is killed too
        finish_imports(copied)
        found.append(state(copied))
    assert {OLD, NEW} == set(found)
    assert found == sorted(found, key=[OLD, NEW].index)  # once new, always new
    assert state(copied) == NEW
    assert len(found) > 8


def test_an_import_that_is_running_is_left_alone(data: Path) -> None:
    with staging(data) as staged:
        places = stage(staged)
        finish_imports(data)
        replace_components(staged, places)
    assert state(data) == NEW


@pytest.mark.parametrize("failing", range(3))
def test_an_error_while_components_are_moved_leaves_the_old_state(
    data: Path, failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, calls = Path.rename, iter(range(100))

    def sometimes(self: Path, target: Path) -> Path:
        if next(calls) == failing:
            raise OSError(28, "No space left on device")
        return rename(self, target)

    with staging(data) as staged:
        places = stage(staged)
        monkeypatch.setattr(Path, "rename", sometimes)
        with pytest.raises(OSError, match="No space left"):
            replace_components(staged, places)
    monkeypatch.undo()
    assert state(data) == OLD


@pytest.mark.parametrize("text", ["{}", "[3]", '["../walks"]', '["/walks"]', "[", ""])
def test_a_damaged_list_of_moves_is_an_error(data: Path, text: str) -> None:
    (data / ".import.x").mkdir()
    (data / ".import.x" / "moves.json").write_text(text)
    with pytest.raises(DataError, match=r"\.import\.x/moves\.json: "):
        finish_imports(data)
