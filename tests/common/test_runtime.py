"""Threads and memory of a process, tested in processes of their own: the changes cannot be undone."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from babywalk.common import runtime

MEGABYTE = 1 << 20
HELD_AFTER_FREEING = """
import resource
import numpy as np
from pathlib import Path
from babywalk.common.runtime import retain_freed_memory

def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

if {retain}:
    retain_freed_memory()
before = held()
for _ in range(3):
    np.ones(64 << 20, dtype=np.uint8)
print(held() - before)
"""
LARGE_PAGES = """
from pathlib import Path
from babywalk.common.runtime import retain_freed_memory

retain_freed_memory()
import torch

weight = torch.zeros(16 << 20)
for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
    if line.startswith("AnonHugePages"):
        print(int(line.split()[1]) * 1024)
"""
THREADS = """
from babywalk.common.runtime import choose_threads

choose_threads({threads})
import torch

print(torch.get_num_threads())
"""
SETTINGS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")


def printed(program: str, **environment: str) -> int:
    inherited = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**inherited, **environment},
    )
    return int(run.stdout)


@glibc
def test_freed_memory_is_kept_and_used_again() -> None:
    assert printed(HELD_AFTER_FREEING.format(retain=False)) < 16 * MEGABYTE
    assert 60 * MEGABYTE < printed(HELD_AFTER_FREEING.format(retain=True)) < 100 * MEGABYTE


@glibc
def test_large_tensors_are_in_large_pages() -> None:
    offered = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not offered.exists() or "[never]" in offered.read_text():
        pytest.skip("the system offers no large pages")
    assert printed(LARGE_PAGES) >= 32 * MEGABYTE


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THP_MEM_ALLOC_ENABLE", "0")
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    assert not runtime.retain_freed_memory()


@pytest.fixture
def four_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with four cores, without torch and without settings; returns its /proc/stat."""
    for name in SETTINGS:
        # Set first, so that what the test changes is undone.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(runtime, "_cores", lambda: {0, 1, 2, 3})
    monkeypatch.setattr(runtime, "_physical", len)
    monkeypatch.setattr(runtime, "_STAT", tmp_path / "stat")
    load(monkeypatch, tmp_path / "stat", [0, 0, 0, 0])
    return tmp_path / "stat"


def load(monkeypatch: pytest.MonkeyPatch, stat: Path, busy: list[int]) -> None:
    """Let each core be busy for so many of the 20 clock ticks that are sampled."""

    def write(elapsed: int) -> None:
        lines = [
            f"cpu{core} {1000 + ticks * elapsed} 0 0 {1000 + (20 - ticks) * elapsed} 0 0 0 0 0 0"
            for core, ticks in enumerate(busy)
        ]
        stat.write_text("\n".join(["cpu  1 2 3 4 5 6 7 8 9 10", *lines, "intr 5 0 7"]))

    write(0)
    monkeypatch.setattr(runtime.time, "sleep", lambda _: write(1))


def test_all_idle_cores_are_used_without_a_notice(four_cores: Path) -> None:
    assert runtime.choose_threads() is None
    assert "OMP_NUM_THREADS" not in os.environ


@pytest.mark.parametrize(
    ("busy", "threads"),
    [([20, 0, 0, 0], 3), ([20, 20, 4, 0], 2), ([20, 20, 20, 20], 1)],
)
def test_busy_cores_are_left_to_others_and_reported(
    busy: list[int], threads: int, four_cores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(monkeypatch, four_cores, busy)
    notice = runtime.choose_threads()
    assert notice == (
        f"{sum(busy) / 20:.1f} of 4 cores are busy: computing with {threads} of 4 threads. "
        "Choose another number with --threads."
    )
    assert os.environ["OMP_NUM_THREADS"] == str(threads)


def test_logical_cores_do_not_add_threads(four_cores: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_physical", lambda _: 2)
    load(monkeypatch, four_cores, [20, 0, 0, 0])
    assert runtime.choose_threads() is None


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "MKL_NUM_THREADS"])
def test_the_number_of_threads_in_the_environment_is_kept(
    name: str, four_cores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(monkeypatch, four_cores, [20, 20, 20, 20])
    monkeypatch.setenv(name, "4")
    assert runtime.choose_threads() is None
    assert os.environ[name] == "4"


def test_the_wait_policy_in_the_environment_is_kept(
    four_cores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    runtime.choose_threads()
    assert "GOMP_SPINCOUNT" not in os.environ
    monkeypatch.delenv("OMP_WAIT_POLICY")
    runtime.choose_threads()
    assert int(os.environ["GOMP_SPINCOUNT"]) < 300_000  # the default of GNU OpenMP


def test_a_system_without_proc_counts_as_idle(four_cores: Path) -> None:
    four_cores.unlink()
    assert runtime.choose_threads() is None


def test_torch_computes_with_the_requested_threads() -> None:
    assert printed(THREADS.format(threads=1)) == 1
    assert printed(THREADS.format(threads=1), OMP_NUM_THREADS="2") == 1
    assert printed(THREADS.format(threads=None), OMP_NUM_THREADS="2") == 2
