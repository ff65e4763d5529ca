"""The data directory: a folder of components, each with a manifest of its files.

A component is written to a temporary folder and renamed into place, so it is complete or absent, and commands
may write different components at the same time. Its `manifest.json` has the version that wrote it, licence
notes, the size and SHA-256 of every file, and the SHA-256 of itself.

An import that replaces several components writes them into a staging folder inside the data directory, then a
list of its moves, then moves them. A process may be killed at any time: whoever opens the directory next
completes the moves that are listed, and discards a staging folder without a list.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import babywalk
from babywalk.assets.records import Record
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import (
    CAN_LOCK,
    atomic_folder,
    check_signed,
    exclusive_lock,
    read_json,
    sha256,
    signed,
    write_json,
)
from babywalk.common.progress import progress

# The folders of a data directory. A built task is a component <task>/<split>.
CONNECTIVITY = "connectivity"  # <scan>_connectivity.json
WALKS = "r2r"  # R2R_<split>.json
FEATURES = "features"  # one component per source of view features
WORD_VECTORS = "glove"  # vocab.txt, vectors.npy
FINE_GRAINED = "fine_grained"  # FGR2R_<split>.json: sub-instructions and their parts of the path
SENTENCES = "sentences"  # sentences/<split>: the tagged sentences of a split
BABYSTEPS = "babysteps"  # babysteps/<task>/<split>: Baby-Steps and where on the path they end
LANDMARKS = "landmarks"  # the landmark classifier
ALIGNER = "aligner"  # the alignment model
SPEAKER = "speaker"  # the speaker model
PLANS = "plans"  # <scan>.json: floor plans of built-in houses, for figures
RAW = "raw"  # the raw files of a built-in data set
CACHE = "cache"  # derived files that may be deleted at any time; not in a manifest

MANIFEST = "manifest.json"
_STAGING = ".import."  # the name of a staging folder begins so
_MOVES = "moves.json"  # in a staging folder: the components that are moved out of it
_REPLACED = "replaced"  # in a staging folder: what they replace
_OTHER_HASH = "does not match its SHA-256"
_ALWAYS_HASHED = 64 << 20  # bytes up to which a file is hashed whenever it is opened


@dataclass(frozen=True, slots=True)
class Draft:
    """A component that is being written."""

    folder: Path
    details: dict[str, Any]  # facts about the content; may be changed until the block ends


@contextmanager
def component(
    folder: Path, what: str, *, notes: Sequence[str] = (), details: Mapping[str, Any] | None = None
) -> Iterator[Draft]:
    """Write a component into the draft's folder; it replaces `folder` if the block raises nothing."""
    with atomic_folder(folder) as temporary:
        draft = Draft(temporary, dict(details or {}))
        yield draft
        files = sorted(file for file in temporary.rglob("*") if file.is_file())
        manifest = {
            "what": what,
            "made_by": f"babywalk {babywalk.__version__}",
            "notes": list(notes),
            "details": draft.details,
            "files": {
                file.relative_to(temporary).as_posix(): {"bytes": file.stat().st_size, "sha256": sha256(file)}
                for file in files
            },
        }
        write_json(temporary / MANIFEST, signed(manifest))


def read_manifest(folder: Path) -> Record:
    """The manifest of a component."""
    file = folder / MANIFEST
    record = Record.of(file, "the manifest", read_json(file))
    return Record(file, record.name, check_signed(file, record.fields, ""))


def details(folder: Path) -> Record:
    """The `details` of a component's manifest."""
    manifest = read_manifest(folder)
    return Record.of(manifest.file, "field 'details'", manifest.fields.get("details"))


@contextmanager
def staging(folder: Path) -> Iterator[Path]:
    """A folder inside a data directory to write components to, before `replace_components` moves them."""
    staged = Path(tempfile.mkdtemp(prefix=_STAGING, dir=folder))
    try:
        with exclusive_lock(staged):
            yield staged
    finally:
        if not (staged / _MOVES).exists():
            shutil.rmtree(staged, ignore_errors=True)


def replace_components(staged: Path, places: Sequence[str]) -> None:
    """Move components of a staging folder to their places in its data directory: all or, on an error, none.

    If the process is killed, or the error cannot be undone, `finish_imports` completes the moves.
    """
    write_json(staged / _MOVES, list(places))
    try:
        for place in places:
            _move(staged, place)
    except BaseException:
        for place in reversed(places):
            _move_back(staged, place)
        (staged / _MOVES).unlink()
        raise
    (staged / _MOVES).unlink()


def finish_imports(folder: Path) -> None:
    """Complete or discard imports into a data directory whose process was killed."""
    for staged in folder.glob(f"{_STAGING}*"):
        moving = (staged / _MOVES).is_file()
        if not moving and not CAN_LOCK:
            continue
        try:
            with exclusive_lock(staged, wait=moving):
                if (staged / _MOVES).is_file():
                    replace_components(staged, _moves(staged / _MOVES))
                shutil.rmtree(staged)
        except (ConfigError, PermissionError):
            if moving:
                raise  # else an import is running, or was killed before it changed anything


def _move(staged: Path, place: str) -> None:
    """Move a component to its place, unless that was done."""
    new, target, old = staged / place, staged.parent / place, staged / _REPLACED / place
    if new.exists():
        if target.exists():
            old.parent.mkdir(parents=True, exist_ok=True)
            target.rename(old)
        target.parent.mkdir(parents=True, exist_ok=True)
        new.rename(target)


def _move_back(staged: Path, place: str) -> None:
    """Undo `_move`, as far as it was done."""
    new, target, old = staged / place, staged.parent / place, staged / _REPLACED / place
    if not new.exists():
        target.rename(new)
    if old.exists():
        old.rename(target)


def _moves(file: Path) -> list[str]:
    places = read_json(file)
    if not isinstance(places, list) or not all(
        isinstance(place, str) and _is_inside(place) for place in places
    ):
        raise DataError(f"{file}: is not a list of components. Import the data again into a new directory.")
    return places


class DamagedError(DataError):
    """A file that differs from its manifest."""


@dataclass(frozen=True, slots=True)
class StoredComponent:
    """A component that is read: each file is checked against the manifest before it is used."""

    folder: Path
    again: str  # for error messages: how the component is made again

    @property
    def manifest(self) -> Record:
        """The manifest."""
        with adding_advice(self.again):
            return read_manifest(self.folder)

    @property
    def details(self) -> Record:
        """The `details` of the manifest."""
        with adding_advice(self.again):
            return details(self.folder)

    @contextmanager
    def reading(self, name: str) -> Iterator[Path]:
        """A checked file of the component; errors of reading it in the block name the command to repeat."""
        with adding_advice(self.again):
            file = self.folder / name
            check_file(file)
            yield file

    def has(self, name: str) -> bool:
        """Whether there is a file, which the manifest must list too."""
        with adding_advice(self.again):
            listed = name in _files(self.folder / MANIFEST)
            if not listed and (self.folder / name).exists():
                raise DataError(f"{self.folder / name}: is not in the manifest of its folder.")
            return listed


def check_file(file: Path) -> None:
    """Raise an error if a file differs from the manifest in its folder; a file that is not in one passes.

    The SHA-256 of a file above 64 MB is left to `babywalk data verify`.
    """
    manifest = file.parent / MANIFEST
    if not manifest.is_file():
        return
    entry = _files(manifest).get(file.name)
    if entry and (problem := _problem(file, entry, limit=_ALWAYS_HASHED)):
        raise DamagedError(f"{file}: {problem}.")


def check_hashes(folder: Path, hashes: Mapping[str, str]) -> None:
    """Raise an error if a file of a component does not have its SHA-256; files not in the manifest pass."""
    if (folder / MANIFEST).is_file():
        known = _files(folder / MANIFEST)
        for name, found in hashes.items():
            if name in known and known[name]["sha256"] != found:
                raise DamagedError(f"{folder / name}: {_OTHER_HASH}.")


@contextmanager
def adding_advice(advice: str, kind: type[DataError] = DataError) -> Iterator[None]:
    """Add to errors of a kind what to do about them."""
    try:
        yield
    except kind as error:
        raise kind(f"{error} {advice}") from None


@dataclass(frozen=True, slots=True)
class Finding:
    """One file that differs from its manifest."""

    file: str  # relative to the data directory
    problem: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of checking a whole data directory."""

    components: int
    files: int
    bytes: int
    findings: tuple[Finding, ...]


def verify(folder: Path) -> Verification:
    """Check every file of a data directory against the manifests in it."""
    if not folder.is_dir():
        raise DataError(f"{folder}: folder not found.")
    finish_imports(folder)
    manifests = sorted(folder.rglob(MANIFEST))
    if not manifests:
        raise DataError(f"{folder}: is not a data directory: it contains no {MANIFEST}.")
    expected: dict[Path, dict[str, Any]] = {}
    for manifest in manifests:
        for name, entry in _files(manifest).items():
            expected[manifest.parent / name] = entry
    findings = [
        Finding(file.relative_to(folder).as_posix(), problem)
        for file, entry in progress(expected.items(), "Checking files", unit="file")
        if (problem := _problem(file, entry))
    ]
    known = {*expected, *manifests}
    findings += [
        Finding(file.relative_to(folder).as_posix(), "is not in a manifest")
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file not in known and file.relative_to(folder).parts[0] != CACHE
    ]
    size = sum(entry["bytes"] for entry in expected.values())
    return Verification(len(manifests), len(expected), size, tuple(findings))


def _files(manifest: Path) -> dict[str, dict[str, Any]]:
    record = read_manifest(manifest.parent)
    files = record.fields.get("files")
    if not isinstance(files, dict):
        raise record.wrong("files", "an object of file names")
    for name, fields in files.items():
        entry = Record.of(manifest, f"file {name!r}", fields)
        entry.exact_integer("bytes")
        entry.string("sha256")
        if not _is_inside(name):
            raise DataError(f"{manifest}: file {name!r} is outside the folder of its manifest.")
    return files


def _is_inside(name: str) -> bool:
    """Whether a relative path stays inside its folder."""
    return not (Path(name).is_absolute() or ".." in Path(name).parts or "\0" in name)


def _problem(file: Path, entry: dict[str, Any], *, limit: float = math.inf) -> str | None:
    """What is wrong with a file; None if nothing is. Files above `limit` bytes are not hashed."""
    try:
        stat = file.stat()
    except OSError:  # also a name that no file system has
        return "is missing"
    if not file.is_file():
        return "is missing"
    if stat.st_size != entry["bytes"]:
        return f"has {stat.st_size:,} bytes instead of {entry['bytes']:,}"
    if stat.st_size > limit:
        return None
    return None if sha256(file) == entry["sha256"] else _OTHER_HASH
