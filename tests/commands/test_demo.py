"""The demonstration, whole, with a small world and small agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from babywalk.assets.dollhouse import DollhouseConfig
from babywalk.commands.demo import demo


@pytest.mark.slow
def test_it_trains_compares_draws_and_keeps_what_is_there(tmp_path: Path) -> None:
    def show() -> str:
        return "\n".join(demo(tmp_path, world=DollhouseConfig(houses=4, seed=1), preset="tiny"))

    said = show()
    for line in ("Building the Dollhouse: 4 houses", "Cutting instructions", "Aligning", "Training babywalk"):
        assert line in said
    for agent in ("babywalk", "seq2seq", "random"):
        for task in ("r2r", "r4r", "r6r", "r8r"):
            assert f"{agent} {task}" in said
    verdicts = [line for line in said.splitlines() if " SEQ2SEQ " in line and "in SDTW" in line]
    assert [line[:3] for line in verdicts] == ["R2R", "R4R", "R6R", "R8R"]
    pictures = sorted((tmp_path / "pictures").iterdir())
    assert [file.name[:3] for file in pictures] == ["r2r", "r4r", "r6r", "r8r"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in pictures)
    weights = (tmp_path / "babywalk-0" / "model.safetensors").stat().st_mtime_ns

    again = show()
    assert "Building" not in again
    assert "Training" not in again
    assert said.endswith(again[again.index("\nMeasuring") :])  # the same table and verdicts
    assert (tmp_path / "babywalk-0" / "model.safetensors").stat().st_mtime_ns == weights
