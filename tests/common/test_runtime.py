"""In processes of their own: what is done to the memory of one cannot be undone."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

MEGABYTE = 1 << 20
HOLDS_AFTER_FREEING = """
import os, resource
import numpy as np
from pathlib import Path
from babywalk.common.runtime import retain_freed_memory

def holds():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

if {keep}:
    retain_freed_memory()
before = holds()
for _ in range(3):
    np.ones(64 << 20, dtype=np.uint8)
print(holds() - before)
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
glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")


def printed(program: str) -> int:
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return int(run.stdout)


@glibc
def test_freed_memory_is_kept_and_used_again() -> None:
    assert printed(HOLDS_AFTER_FREEING.format(keep=False)) < 16 * MEGABYTE
    assert 60 * MEGABYTE < printed(HOLDS_AFTER_FREEING.format(keep=True)) < 100 * MEGABYTE


@glibc
def test_large_tensors_lie_in_large_pages() -> None:
    offered = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not offered.exists() or "[never]" in offered.read_text():
        pytest.skip("the system offers no large pages")
    assert printed(LARGE_PAGES) >= 32 * MEGABYTE


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from babywalk.common.runtime import retain_freed_memory

    monkeypatch.setenv("THP_MEM_ALLOC_ENABLE", "0")
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    assert not retain_freed_memory()
