"""The data directory: a folder of components, each with a manifest of its files.

A component is written to a temporary folder and renamed into place, so it is complete or absent, and commands
may write different components at the same time. Its `manifest.json` has the version that wrote it, licence
notes, and the size and SHA-256 of every file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import babywalk
from babywalk.assets.records import Record
from babywalk.common.errors import DataError
from babywalk.common.files import atomic_folder, read_json, sha256, write_json
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
        write_json(
            temporary / MANIFEST,
            {
                "what": what,
                "made_by": f"babywalk {babywalk.__version__}",
                "notes": list(notes),
                "details": draft.details,
                "files": {
                    file.relative_to(temporary).as_posix(): {
                        "bytes": file.stat().st_size,
                        "sha256": sha256(file),
                    }
                    for file in files
                },
            },
        )


def read_manifest(folder: Path) -> Record:
    """The manifest of a component."""
    file = folder / MANIFEST
    return Record.of(file, "the manifest", read_json(file))


def details(folder: Path) -> Record:
    """The `details` of a component's manifest."""
    manifest = read_manifest(folder)
    return Record.of(manifest.file, "field 'details'", manifest.fields.get("details"))


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
        entry.integer("bytes")
        entry.string("sha256")
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise DataError(f"{manifest}: file {name!r} is outside the folder of its manifest.")
    return files


def _problem(file: Path, entry: dict[str, Any]) -> str | None:
    """What is wrong with a file; None if nothing is."""
    if not file.is_file():
        return "is missing"
    size = file.stat().st_size
    if size != entry["bytes"]:
        return f"has {size:,} bytes instead of {entry['bytes']:,}"
    if sha256(file) != entry["sha256"]:
        return "does not match its SHA-256"
    return None
