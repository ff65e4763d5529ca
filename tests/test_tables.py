from __future__ import annotations

import pytest

from babywalk.tables import size, table


def test_numbers_align_to_the_right() -> None:
    text = table(["task", "episodes"], [["r2r", "14,039"], ["r4r long", "7"]])
    assert text.splitlines() == ["task      episodes", "r2r         14,039", "r4r long         7"]


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 KB"), (23_000, "23 KB"), (2.9e9, "2.9 GB")]
)
def test_sizes_for_people(count: float, text: str) -> None:
    assert size(count) == text
