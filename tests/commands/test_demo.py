"""The complete demonstration, with a small Dollhouse and small agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from babywalk.assets.dollhouse import DollhouseConfig
from babywalk.commands.demo import demo


@pytest.mark.slow
def test_the_demo_trains_compares_and_draws_and_a_second_call_skips_what_is_done(tmp_path: Path) -> None:
    def run_demo() -> str:
        return "\n".join(demo(tmp_path, world=DollhouseConfig(houses=4, seed=1), preset="tiny"))

    first = run_demo()
    for line in (
        "Building the Dollhouse: 4 houses",
        "Segmenting instructions",
        "Aligning",
        "Training babywalk",
    ):
        assert line in first
    for agent in ("babywalk", "seq2seq", "random"):
        for task in ("r2r", "r4r", "r6r", "r8r"):
            assert f"{agent} {task}" in first
    comparisons = [line for line in first.splitlines() if " SEQ2SEQ " in line and "in SDTW" in line]
    assert [line[:3] for line in comparisons] == ["R2R", "R4R", "R6R", "R8R"]
    pictures = sorted((tmp_path / "pictures").iterdir())
    assert [file.name[:3] for file in pictures] == ["r2r", "r4r", "r6r", "r8r"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in pictures)
    weights = (tmp_path / "babywalk-0" / "model.safetensors").stat().st_mtime_ns

    assert "<!doctype html>" in (tmp_path / "walks.html").read_text()[:20]
    assert f"babywalk view {tmp_path / 'babywalk-0'}" in first

    second = run_demo()
    assert "Building" not in second
    assert "Training" not in second
    assert first.endswith(second[second.index("\nEvaluating") :])  # the same table and comparisons
    assert (tmp_path / "babywalk-0" / "model.safetensors").stat().st_mtime_ns == weights
