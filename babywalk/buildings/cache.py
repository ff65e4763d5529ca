"""Houses from a folder of connectivity files, through a cache keyed by what the files hold.

Safe when two processes build it at once: each writes a file of its own and renames it into place. A
folder that cannot be written costs only the time to build.
"""

from __future__ import annotations

import contextlib
import hashlib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from babywalk.assets.connectivity import connectivity_files, read_connectivity
from babywalk.buildings.houses import Houses
from babywalk.common.files import atomic_write, read_bytes
from babywalk.common.progress import progress

_VERSION = "1"  # changes with the meaning of any table of Houses
_TABLES = ("first", "positions", "neighbours", "distances", "onward", "sight")


def load_houses(folder: Path, cache: Path | None = None) -> Houses:
    """The houses of a folder of connectivity files; `cache` is a folder of earlier results."""
    files = connectivity_files(folder)
    stored = cache / f"houses-{_key(files)}.npz" if cache else None
    if stored and (houses := _read(stored)):
        return houses
    houses = Houses.of([read_connectivity(file) for file in progress(files, "Reading houses", unit="house")])
    if stored:
        with contextlib.suppress(OSError):
            _write(stored, houses)
    return houses


def _key(files: list[Path]) -> str:
    with ThreadPoolExecutor() as pool:
        contents = pool.map(lambda file: hashlib.sha256(read_bytes(file)).digest(), files)
        digest = hashlib.sha256(_VERSION.encode())
        for file, content in zip(files, contents, strict=True):
            digest.update(file.name.encode() + b"\0" + content)
    return digest.hexdigest()[:32]


def _write(file: Path, houses: Houses) -> None:
    with atomic_write(file) as temporary, temporary.open("wb") as out:
        np.savez(
            out,
            scans=np.array(houses.scans),
            names=np.array(houses.names),
            **{table: getattr(houses, table) for table in _TABLES},
        )


def _read(file: Path) -> Houses | None:
    """What was stored, or None where there is nothing to be trusted."""
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as stored:
            return Houses(
                scans=tuple(stored["scans"].tolist()),
                names=tuple(stored["names"].tolist()),
                **{table: stored[table] for table in _TABLES},
            )
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        return None
