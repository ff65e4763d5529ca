"""Safe unpacking of untrusted archives: no path traversal, links or decompression bombs; all or nothing."""

from __future__ import annotations

import gzip
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PureWindowsPath
from typing import IO, Any, Literal

from babywalk.common.errors import DataError
from babywalk.common.files import atomic_folder
from babywalk.common.progress import byte_progress

MAX_RATIO = 250  # of unpacked to packed size; the data sets used here stay below about 50
MAX_FILES = 200_000

_BLOCK = 1 << 18
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    NotImplementedError,  # an unsupported compression method
    RuntimeError,  # an encrypted archive
)


@dataclass(frozen=True, slots=True)
class _Member:
    """A file of an archive; `size` is the declared size."""

    name: str
    size: int
    regular: bool  # neither a link nor a device
    handle: Any  # the member object of zipfile or tarfile


def unpack(archive: Path, folder: Path, *, kind: Literal["zip", "tar.gz"], inside: str = "") -> None:
    """Unpack an archive into `folder`, replacing it; nothing is changed if any file is rejected.

    With `inside`, only the files below that folder of the archive are unpacked; `*` matches one folder name.
    """
    reader = _Zip if kind == "zip" else _Tar
    try:
        with closing(reader(archive)) as source, atomic_folder(folder) as temporary:
            if not _unpack(source, archive, temporary, inside):
                where = f"no files in folder {inside!r}" if inside else "no files"
                raise DataError(f"{archive}: contains {where}.")
    except _BROKEN as error:
        raise DataError(f"{archive}: is damaged or not a {kind} archive ({error}).") from None
    except FileNotFoundError:
        raise DataError(f"{archive}: file not found.") from None
    except OSError as error:
        raise DataError(f"{folder}: cannot be written ({error.strerror or error}).") from None


def _unpack(source: _Zip | _Tar, archive: Path, folder: Path, inside: str) -> int:
    max_bytes = MAX_RATIO * archive.stat().st_size
    wanted = [part for part in inside.split("/") if part]
    count = total = 0
    with byte_progress(f"unpacking {archive.name}", total=None) as bar:
        for member in source.members():
            path = _below(_parts(member.name, archive), wanted)
            if path is None:
                continue
            if not member.regular:
                raise DataError(f"{archive}: {member.name!r} is a link or a device; expected regular files.")
            count += 1
            total += member.size
            if total > max_bytes or count > MAX_FILES:
                raise DataError(
                    f"{archive}: would unpack to more than {MAX_RATIO} times its size, or to more than "
                    f"{MAX_FILES:,} files; it is not the expected archive."
                )
            target = folder.joinpath(*path)
            if target.exists():
                raise DataError(f"{archive}: contains {member.name!r} twice.")
            target.parent.mkdir(parents=True, exist_ok=True)
            with source.open(member) as data, target.open("xb") as out:
                for block in _blocks(data, member, archive):
                    out.write(block)
                    bar.update(len(block))
    return count


def _blocks(data: IO[bytes], member: _Member, archive: Path) -> Iterator[bytes]:
    """The content of a member in blocks; its size must be the declared one."""
    left = member.size
    while block := data.read(min(_BLOCK, left + 1)):
        left -= len(block)
        if left < 0:
            break
        yield block
    if left:
        raise DataError(f"{archive}: {member.name!r} does not have the declared size.")


def _parts(name: str, archive: Path) -> tuple[str, ...]:
    """The path components of a member, split at both kinds of slashes as on Windows."""
    path = PureWindowsPath(name)
    if path.anchor or name.startswith("/") or any(part == ".." or ":" in part for part in path.parts):
        raise DataError(f"{archive}: {name!r} leads outside the target folder; nothing was unpacked.")
    return path.parts


def _below(parts: tuple[str, ...], wanted: list[str]) -> tuple[str, ...] | None:
    """The path of a member relative to the wanted folder; None if it is not inside."""
    head, rest = parts[: len(wanted)], parts[len(wanted) :]
    inside = len(head) == len(wanted) and all(map(fnmatchcase, head, wanted))
    return rest if inside and rest else None


class _Zip:
    """A zip archive as a series of members."""

    def __init__(self, file: Path) -> None:
        self._zip = zipfile.ZipFile(file)

    def members(self) -> Iterable[_Member]:
        for info in self._zip.infolist():
            if info.is_dir():
                continue
            kind = stat.S_IFMT(info.external_attr >> 16)  # 0 where the archive comes from Windows
            yield _Member(info.filename, info.file_size, kind in (0, stat.S_IFREG), info)

    def open(self, member: _Member) -> IO[bytes]:
        return self._zip.open(member.handle)

    def close(self) -> None:
        self._zip.close()


class _Tar:
    """A compressed tar archive as a series of members, read sequentially."""

    def __init__(self, file: Path) -> None:
        self._tar = tarfile.open(file, "r:gz")  # noqa: SIM115

    def members(self) -> Iterable[_Member]:
        for info in self._tar:
            if not info.isdir():
                yield _Member(info.name, info.size, info.isreg() and not info.issparse(), info)

    def open(self, member: _Member) -> IO[bytes]:
        data = self._tar.extractfile(member.handle)
        if data is None:
            raise tarfile.ReadError(f"{member.name!r} cannot be read")
        return data

    def close(self) -> None:
        self._tar.close()
