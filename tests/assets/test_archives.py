"""Safe archives are unpacked; from unsafe ones nothing is written."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from babywalk.assets import archives
from babywalk.assets.archives import unpack
from babywalk.common.errors import DataError

GOOD = {
    "repo-abc/graphs/a.json": b"{}",
    "repo-abc/graphs/deep/b.json": b"[]",
    "repo-abc/README.md": b"read me",
}
UNSAFE_NAMES = [
    "../out",
    "a/../../out",
    "/etc/out",
    "C:/out",
    "C:out",
    "\\out",
    "..\\out",
    "a/b\\..\\..\\..\\out",
    "//host/out",
]


def zipped(folder: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return folder / "a.zip"


def tarred(folder: Path, files: dict[str, bytes], **special: Any) -> Path:
    with tarfile.open(folder / "a.tar.gz", "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        if special:
            info = tarfile.TarInfo("repo-abc/graphs/special")
            for field, value in special.items():
                setattr(info, field, value)
            archive.addfile(info)
    return folder / "a.tar.gz"


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def make(kind: str, folder: Path, files: dict[str, bytes]) -> Path:
    return zipped(folder, files) if kind == "zip" else tarred(folder, files)


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
class TestBothKinds:
    def test_all_files_are_unpacked(self, tmp_path: Path, kind: Any) -> None:
        unpack(make(kind, tmp_path, GOOD), tmp_path / "out", kind=kind)
        assert contents(tmp_path / "out") == GOOD

    def test_only_the_wanted_folder_is_unpacked(self, tmp_path: Path, kind: Any) -> None:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "old").touch()
        unpack(make(kind, tmp_path, GOOD), tmp_path / "out", kind=kind, inside="*/graphs")
        assert contents(tmp_path / "out") == {"a.json": b"{}", "deep/b.json": b"[]"}

    @pytest.mark.parametrize("name", UNSAFE_NAMES)
    def test_path_traversal_is_rejected(self, tmp_path: Path, kind: Any, name: str) -> None:
        archive = make(kind, tmp_path, GOOD | {name: b"unsafe"})
        before = contents(tmp_path)
        with pytest.raises(DataError, match=r"leads outside the target folder; nothing was unpacked\.$"):
            unpack(archive, tmp_path / "deep" / "out", kind=kind)
        assert contents(tmp_path) == before
        assert not Path("/etc/out").exists()

    def test_a_missing_folder_is_an_error(self, tmp_path: Path, kind: Any) -> None:
        archive = make(kind, tmp_path, GOOD)
        with pytest.raises(DataError, match=r"contains no files in folder '\*/maps'\.$"):
            unpack(archive, tmp_path / "out", kind=kind, inside="*/maps")
        assert not (tmp_path / "out").exists()

    def test_a_decompression_bomb_is_rejected(self, tmp_path: Path, kind: Any) -> None:
        archive = make(kind, tmp_path, {"small": b"1", "zeros": bytes(50_000_000)})
        assert archive.stat().st_size < 60_000
        with pytest.raises(DataError, match="would unpack to more than 250 times its size"):
            unpack(archive, tmp_path / "out", kind=kind)
        assert [path.name for path in tmp_path.iterdir()] == [archive.name]

    def test_too_many_files_are_rejected(
        self, tmp_path: Path, kind: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(archives, "MAX_FILES", 2)
        with pytest.raises(DataError, match="or to more than 2 files"):
            unpack(make(kind, tmp_path, GOOD), tmp_path / "out", kind=kind)

    def test_duplicate_names_are_rejected(self, tmp_path: Path, kind: Any) -> None:
        archive = make(kind, tmp_path, {"a/b": b"1", "a//b": b"2"})
        with pytest.raises(DataError, match=r"contains 'a/+b' twice"):
            unpack(archive, tmp_path / "out", kind=kind)

    @pytest.mark.parametrize("keep", [0, 20, 0.5])
    def test_a_damaged_archive_is_rejected(self, tmp_path: Path, kind: Any, keep: float) -> None:
        archive = make(kind, tmp_path, {"noise": bytes(range(256)) * 100})
        raw = archive.read_bytes()
        archive.write_bytes(raw[: int(keep * len(raw)) if keep < 1 else int(keep)])
        with pytest.raises(DataError, match=f"is damaged or not a {kind} archive"):
            unpack(archive, tmp_path / "out", kind=kind)
        assert [path.name for path in tmp_path.iterdir()] == [archive.name]

    def test_a_missing_archive_is_an_error(self, tmp_path: Path, kind: Any) -> None:
        with pytest.raises(DataError, match=r"no: file not found\."):
            unpack(tmp_path / "no", tmp_path / "out", kind=kind)


@pytest.mark.parametrize(
    "special",
    [
        {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
        {"type": tarfile.LNKTYPE, "linkname": "repo-abc/README.md"},
        {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3},
        {"type": tarfile.FIFOTYPE},
    ],
)
def test_links_and_devices_in_a_tar_are_rejected(tmp_path: Path, special: dict[str, Any]) -> None:
    archive = tarred(tmp_path, GOOD, **special)
    with pytest.raises(
        DataError, match="'repo-abc/graphs/special' is a link or a device; expected regular files"
    ):
        unpack(archive, tmp_path / "out", kind="tar.gz", inside="*/graphs")
    assert not (tmp_path / "out").exists()


def test_a_link_outside_the_wanted_folder_is_skipped(tmp_path: Path) -> None:
    archive = tarred(tmp_path, GOOD, type=tarfile.SYMTYPE, linkname="x", name="repo-abc/link")
    unpack(archive, tmp_path / "out", kind="tar.gz", inside="*/graphs")
    assert contents(tmp_path / "out") == {"a.json": b"{}", "deep/b.json": b"[]"}


def test_a_link_in_a_zip_is_rejected(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        info = zipfile.ZipInfo("link")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(DataError, match="'link' is a link or a device"):
        unpack(tmp_path / "a.zip", tmp_path / "out", kind="zip")


def test_a_zip_with_a_declared_size_too_small_is_rejected(tmp_path: Path) -> None:
    archive = zipped(tmp_path, {"wrong size": bytes(1000)})
    raw = archive.read_bytes()
    archive.write_bytes(raw.replace((1000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(DataError, match="is damaged or not a zip archive"):
        unpack(archive, tmp_path / "out", kind="zip")
    assert not (tmp_path / "out").exists()


def test_a_zip_with_a_declared_size_too_large_is_rejected(tmp_path: Path) -> None:
    archive = zipped(tmp_path, {"wrong size": bytes(1000)})
    raw = archive.read_bytes()
    archive.write_bytes(raw.replace((1000).to_bytes(4, "little"), (2000).to_bytes(4, "little")))
    with pytest.raises(DataError, match=r"does not have the declared size|is damaged"):
        unpack(archive, tmp_path / "out", kind="zip")
    assert not (tmp_path / "out").exists()
