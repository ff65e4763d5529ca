from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "environment.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
AGENT = next(block for block in BLOCKS if "action_space.sample" in block)


def test_every_example_of_the_page_runs(dollhouse: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    pytest.importorskip("torch")
    (tmp_path / "dollhouse").symlink_to(dollhouse)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, str(PAGE), "exec"), names)
    assert "\n1.0\n" in capsys.readouterr().out  # the share of walkers at their goals


def test_the_random_agent_has_at_most_twenty_lines_and_prints_the_measures(
    dollhouse: Path, tmp_path: Path, monkeypatch, capsys
) -> None:
    assert len([line for line in AGENT.splitlines() if line.strip()]) <= 20
    (tmp_path / "dollhouse").symlink_to(dollhouse)
    monkeypatch.chdir(tmp_path)
    exec(compile(AGENT, str(PAGE), "exec"), {})
    printed = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert list(printed) == ["PL", "NE", "SR", "OSR", "SPL", "CLS", "nDTW", "SDTW"]
    assert float(printed["PL"]) > 0
