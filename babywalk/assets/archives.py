"""Unpacking archives from strangers: nothing outside the target, no links, no bombs, all or nothing."""

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

MOST_TIMES = 250  # the size of the archive; the files of this field unpack to at most some 50 times theirs
MOST_FILES = 200_000

_BLOCK = 1 << 18
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    NotImplementedError,  # a compression that Python does not know
    RuntimeError,  # a password
)


@dataclass(frozen=True, slots=True)
class _Member:
    """A file of an archive; `size` is what the archive declares."""

    name: str
    size: int
    plain: bool  # neither a link nor a device
    handle: Any  # what the archive's own reader calls it


def unpack(archive: Path, folder: Path, *, kind: Literal["zip", "tar.gz"], inside: str = "") -> None:
    """Put the files of an archive into `folder`, replacing it, if every one of them is sound.

    With `inside` only the files below that folder of the archive are taken; `*` in it is any one folder.
    """
    reader = _Zip if kind == "zip" else _Tar
    try:
        with closing(reader(archive)) as source, atomic_folder(folder) as temporary:
            if not _unpack(source, archive, temporary, inside):
                where = f"no file in a folder {inside!r}" if inside else "no file"
                raise DataError(f"{archive}: holds {where}.")
    except _BROKEN as error:
        raise DataError(f"{archive}: is damaged, or no {kind} archive ({error}).") from None
    except FileNotFoundError:
        raise DataError(f"{archive}: there is no such file.") from None
    except OSError as error:
        raise DataError(f"{folder}: cannot be written ({error.strerror or error}).") from None


def _unpack(source: _Zip | _Tar, archive: Path, folder: Path, inside: str) -> int:
    most = MOST_TIMES * archive.stat().st_size
    wanted = [part for part in inside.split("/") if part]
    count = total = 0
    with byte_progress(f"unpacking {archive.name}", total=None) as bar:
        for member in source.members():
            path = _below(_parts(member.name, archive), wanted)
            if path is None:
                continue
            if not member.plain:
                raise DataError(f"{archive}: {member.name!r} is a link or a device; expected plain files.")
            count += 1
            total += member.size
            if total > most or count > MOST_FILES:
                raise DataError(
                    f"{archive}: would unpack to more than {MOST_TIMES} times its size, or to more than "
                    f"{MOST_FILES:,} files; it is not what it should be."
                )
            target = folder.joinpath(*path)
            if target.exists():
                raise DataError(f"{archive}: holds {member.name!r} twice.")
            target.parent.mkdir(parents=True, exist_ok=True)
            with source.open(member) as data, target.open("xb") as out:
                for block in _blocks(data, member, archive):
                    out.write(block)
                    bar.update(len(block))
    return count


def _blocks(data: IO[bytes], member: _Member, archive: Path) -> Iterator[bytes]:
    """What a member holds, which must be as much as the archive declares."""
    left = member.size
    while block := data.read(min(_BLOCK, left + 1)):
        left -= len(block)
        if left < 0:
            break
        yield block
    if left:
        raise DataError(f"{archive}: {member.name!r} is not of the size that the archive declares.")


def _parts(name: str, archive: Path) -> tuple[str, ...]:
    """The folders and the name of a member; as Windows reads them, which splits at both slashes."""
    path = PureWindowsPath(name)
    if path.anchor or name.startswith("/") or any(part == ".." or ":" in part for part in path.parts):
        raise DataError(f"{archive}: {name!r} leads out of the folder to unpack into; nothing was unpacked.")
    return path.parts


def _below(parts: tuple[str, ...], wanted: list[str]) -> tuple[str, ...] | None:
    """The path of a member below the wanted folder, None where it is not below it."""
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
    """A compressed tar archive as a series of members, read in one go."""

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
