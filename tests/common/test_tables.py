from __future__ import annotations

import pytest

from babywalk.common.tables import format_bytes, markdown, table


def test_columns_after_the_first_are_right_aligned() -> None:
    text = table(["task", "episodes"], [["r2r", "14,039"], ["r4r long", "7"]])
    assert text.splitlines() == ["task      episodes", "r2r         14,039", "r4r long         7"]


def test_markdown_escapes_pipes_in_cells() -> None:
    text = markdown(["", "SR"], [["a|b", "1.0"], ["c", ""]])
    assert text.splitlines() == ["| | SR |", "|---|---|", r"| a\|b | 1.0 |", "| c | |"]


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 KB"), (23_000, "23 KB"), (2.9e9, "2.9 GB")]
)
def test_format_bytes(count: float, text: str) -> None:
    assert format_bytes(count) == text
