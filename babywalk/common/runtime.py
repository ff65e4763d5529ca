"""The process's memory: what is freed is kept for what comes next, and large pieces lie in large pages.

An iteration of learning frees hundreds of megabytes, and the next asks for them again. The C library gives
large pieces back to the system at once, and every page of a new piece costs a fault when it is first touched.
Pages of 2 MB instead of 4 KB cost few of them, and a weight in them is found with fewer look-ups.
"""

from __future__ import annotations

import ctypes
import os
import platform

# Of glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
_NEVER = -1


def retain_freed_memory() -> bool:
    """For a process that is ours alone, before it makes its first tensor. False where nothing was changed.

    Nothing is given back before the process ends. Where the system offers large pages, torch takes them,
    unless the environment says otherwise.
    """
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")  # torch's own switch
    if platform.libc_ver()[0] != "glibc":
        return False
    library = ctypes.CDLL(None)
    return all(library.mallopt(*setting) for setting in ((_TRIM_THRESHOLD, _NEVER), (_MMAP_MAX, 0)))
