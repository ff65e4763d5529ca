"""Threads and memory of a process that runs one command, configured before torch and NumPy are imported.

Threads: OpenMP threads spin while they wait for each other. Beside other busy processes, a spinning thread
keeps the thread that it waits for from running, and a command becomes many times slower. So a command uses no
more threads than cores are idle when it starts, and its threads spin only briefly before they sleep, in case
other processes start later. Float sums depend on the number of threads in their last digits, so a reduced
number of threads is reported.

Memory: a training iteration frees hundreds of megabytes that the next one needs again. By default the C
library returns large blocks to the system, and every page costs a fault when it is touched again. So freed
memory is kept, and allocated in pages of 2 MB, which cost fewer faults and look-ups than pages of 4 KB.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import time
from contextlib import suppress
from pathlib import Path

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")  # torch; OpenBLAS, which NumPy uses, reads the first too
# Some microseconds of spinning: most waits within an operation end sooner, and a time slice is far longer.
_SPINNING = {"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "1"}  # GNU OpenMP; Intel and LLVM OpenMP, in ms
_SAMPLE = 0.2  # seconds
_STAT = Path("/proc/stat")
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # of glibc's malloc.h
_NEVER = -1


def choose_threads(requested: int | None = None) -> str | None:
    """Set the number of threads to `requested`, or by default to the number of idle cores, at least 1.

    Call it before torch and NumPy are imported. Environment variables that the user has set are left as they
    are, except by an explicit request. Returns a notice if fewer threads than cores were chosen by default.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        for name, value in _SPINNING.items():
            os.environ.setdefault(name, value)
    if requested is not None:
        set_threads(requested)
        return None
    if any(name in os.environ for name in _THREADS):
        return None
    cores = _cores()
    busy = _busy_cores(cores)
    count = max(1, len(cores) - round(busy))
    most = _physical(cores)  # torch's default
    if count >= most:
        return None
    set_threads(count)
    return (
        f"{busy:.1f} of {len(cores)} cores are busy: computing with {count} of {most} threads. "
        "Choose another number with --threads."
    )


def set_threads(count: int) -> None:
    """Compute with `count` threads in torch, and in NumPy unless torch is imported already."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(count)
    else:
        os.environ.update(dict.fromkeys(_THREADS, str(count)))


def retain_freed_memory() -> bool:
    """Keep freed memory until the process ends, in large pages; False if the C library is not glibc.

    Call it before torch is imported. Torch takes large pages if the system offers them, unless the
    environment variable THP_MEM_ALLOC_ENABLE says otherwise.
    """
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
    if platform.libc_ver()[0] != "glibc":
        return False
    library = ctypes.CDLL(None)
    return all(library.mallopt(*setting) for setting in ((_TRIM_THRESHOLD, _NEVER), (_MMAP_MAX, 0)))


def _cores() -> set[int]:
    """The logical cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def _physical(cores: set[int]) -> int:
    """The number of physical cores; logical cores where the system does not report siblings."""
    with suppress(OSError):
        folder = Path("/sys/devices/system/cpu")
        return len({(folder / f"cpu{core}/topology/thread_siblings_list").read_text() for core in cores})
    return len(cores)


def _busy_cores(cores: set[int]) -> float:
    """How many of the cores other processes keep busy now, measured while this process sleeps.

    0 where the system does not report it. The load average would include what has just ended.
    """
    try:
        before = _ticks(cores)
        time.sleep(_SAMPLE)
        after = _ticks(cores)
    except (OSError, ValueError, LookupError):
        return 0.0
    spent = [(after[core][0] - before[core][0], after[core][1] - before[core][1]) for core in before]
    return sum(busy / max(1, total) for busy, total in spent)


def _ticks(cores: set[int]) -> dict[int, tuple[int, int]]:
    """Busy and total clock ticks of each core since the system started."""
    found = {}
    for line in _STAT.read_text().splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name != "cpu" and int(name[3:]) in cores:
            # user, nice, system, idle, iowait, irq, softirq, steal; guest times are part of user
            ticks = [int(field) for field in fields[:8]]
            found[int(name[3:])] = (sum(ticks) - ticks[3] - ticks[4], sum(ticks))
    return found
