"""How much memory is free, and a sentence where something would need more."""

from __future__ import annotations

from pathlib import Path

from babywalk.common.errors import DataError
from babywalk.common.tables import format_bytes

_MEMINFO = Path("/proc/meminfo")


def available_memory() -> int | None:
    """Bytes that can be allocated without swapping; None where the system does not say."""
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    values = dict(line.split(":", 1) for line in lines if ":" in line)
    kilobytes = values.get("MemAvailable", "").split()
    return int(kilobytes[0]) * 1024 if kilobytes else None


def check_memory(needed: int, what: str) -> None:
    """Refuse what would need more memory than there is, before it is allocated."""
    available = available_memory()
    if available is not None and needed > available:
        raise DataError(
            f"{what} needs about {format_bytes(needed)} of memory; {format_bytes(available)} are available. "
            "Use a machine with more memory, or split the house."
        )
