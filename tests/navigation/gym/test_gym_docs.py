from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "environment.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
SB3 = [block for block in BLOCKS if "sb3" in block]
AGENT = next(block for block in BLOCKS if "action_space.sample" in block)


def test_every_example_of_the_page_runs(dollhouse: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    pytest.importorskip("torch")
    (tmp_path / "dollhouse").symlink_to(dollhouse)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in BLOCKS:
        if block in SB3:
            continue
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


@pytest.mark.sb3
def test_the_example_with_stable_baselines3_learns(
    dollhouse: Path, tmp_path: Path, monkeypatch, capsys
) -> None:
    pytest.importorskip("sb3_contrib")
    torch = pytest.importorskip("torch")
    (tmp_path / "dollhouse").symlink_to(dollhouse)
    monkeypatch.chdir(tmp_path)
    (example,) = SB3
    before, names = torch.get_num_threads(), {}
    torch.set_num_threads(1)
    try:
        exec(compile(example, str(PAGE), "exec"), names)
    finally:
        torch.set_num_threads(before)
    assert capsys.readouterr().out.startswith("mean return ")
    assert names["after"] > names["before"] + 2.0
