from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "measures.md"


def test_the_example_of_the_page_runs(
    dollhouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (tmp_path / "dollhouse").symlink_to(dollhouse)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(example, str(PAGE), "exec"), names)
    assert capsys.readouterr().out.count("'SDTW'") == 2
    assert (names["low"] <= names["high"]).all()
