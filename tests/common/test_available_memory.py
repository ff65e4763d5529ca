"""What would need more memory than there is gets a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from babywalk.common import memory
from babywalk.common.errors import DataError


def test_too_much_is_refused_before_it_is_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 3_000_000_000)
    memory.check_memory(3_000_000_000, "A house")
    with pytest.raises(DataError, match=r"^A house needs about .* of memory; .* are available\."):
        memory.check_memory(3_000_000_001, "A house")


def test_available_memory_is_read_from_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "meminfo"
    file.write_text("MemTotal:  9 kB\nMemAvailable:   2048 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", file)
    assert memory.available_memory() == 2048 * 1024
    file.unlink()
    assert memory.available_memory() is None
    memory.check_memory(10**30, "Nothing is known, so nothing is refused: this")
