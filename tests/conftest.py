"""Shared fixtures: the real data, where available, and a small built-in data set."""

from __future__ import annotations

import os
import shutil
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The machine may be busy: no test is judged by its time.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

CHECKOUT = Path(__file__).parents[1]
_TIMEOUT = 300  # seconds to wait for another worker to make a shared folder


@pytest.fixture(scope="session")
def real_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The raw real data, unpacked."""
    given = os.environ.get("BABYWALK_REAL_DATA")
    archives = Path(given) if given else CHECKOUT.parent / "shared" / "data"
    if not archives.is_dir():
        pytest.skip(f"no real data: {archives} is not a folder; set BABYWALK_REAL_DATA to another")
    return once(tmp_path_factory, "real", lambda folder: _unpack(archives, folder))


@pytest.fixture(scope="session")
def real_dataset(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real houses and walks as a data directory with all tasks built; read-only."""

    def make(folder: Path) -> None:
        from babywalk.commands.data import build_tasks
        from babywalk.episodes.importing import RawFiles, import_data

        raw = RawFiles(connectivity=real_data / "connectivity", r2r=real_data / "R2R")
        import_data(raw, folder)
        build_tasks(folder, ["r4r", "r6r", "r8r"], None, full=False, seed=0)

    return once(tmp_path_factory, "real_dataset", make)


@pytest.fixture(scope="session")
def dollhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small built-in data directory; read-only."""

    def make(folder: Path) -> None:
        from babywalk.assets.dollhouse import DollhouseConfig
        from babywalk.commands.data import make_dollhouse

        make_dollhouse(folder, DollhouseConfig(houses=4, seed=1))

    return once(tmp_path_factory, "dollhouse", make)


@pytest.fixture(scope="session")
def segmented_dollhouse(dollhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small built-in data with segmented instructions; read-only."""

    def make(folder: Path) -> None:
        from babywalk.commands.segment import segment_data

        shutil.copytree(dollhouse, folder, ignore=shutil.ignore_patterns("raw"), dirs_exist_ok=True)
        segment_data(folder, None, workers=1)

    return once(tmp_path_factory, "segmented_dollhouse", make)


@pytest.fixture(scope="session")
def aligned_dollhouse(segmented_dollhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The segmented data with the Baby-Steps of val_seen aligned by the fastest method; read-only."""

    def make(folder: Path) -> None:
        from babywalk.commands.align import align_data

        shutil.copytree(segmented_dollhouse, folder, dirs_exist_ok=True)
        align_data(folder, ["r2r", "r4r"], ["val_seen"], method="proportional")

    return once(tmp_path_factory, "aligned_dollhouse", make)


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder made by the first test worker that needs it and shared by all workers of the run."""
    base = factory.getbasetemp()
    root = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    folder, claim = root / name, root / f"{name}.claim"
    try:
        claim.mkdir()
    except FileExistsError:
        deadline = time.monotonic() + _TIMEOUT
        while not folder.is_dir():
            if time.monotonic() > deadline:
                pytest.fail(f"another worker did not finish making {name}")
            time.sleep(0.1)
        return folder
    draft = root / f"{name}.draft"
    draft.mkdir()
    make(draft)
    draft.rename(folder)
    return folder


def _unpack(archives: Path, folder: Path) -> None:
    for archive in sorted(archives.glob("*.tar.xz")):
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
