"""Categories: the table round-trips, its columns are found by name, and an invalid one is rejected."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babywalk.assets.boxes import boxes_files, read_boxes
from babywalk.assets.categories import read_categories, write_categories
from babywalk.common.errors import DataError

NAME = st.text(st.characters(codec="utf-8", exclude_characters="\t\r\n"), min_size=1).filter(str.strip)


@settings(max_examples=50, deadline=None)
@given(categories=st.dictionaries(NAME, NAME, min_size=1))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, categories: dict[str, str]) -> None:
    file = tmp_path_factory.mktemp("round") / "category_mapping.tsv"
    write_categories(file, categories)
    assert list(read_categories(file).items()) == list(categories.items())


def test_written_columns(tmp_path: Path) -> None:
    write_categories(tmp_path / "c.tsv", {"table lamp": "lighting", "desk": "table", "light": "lighting"})
    assert (tmp_path / "c.tsv").read_text() == (
        "index\traw_category\tmpcat40index\tmpcat40\n"
        "1\ttable lamp\t1\tlighting\n2\tdesk\t2\ttable\n3\tlight\t1\tlighting\n"
    )


def test_columns_are_found_by_name_and_lines_may_end_with_crlf(tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_bytes(b"mpcat40\tcount\traw_category\r\nwall\t3\tbrick\r\n")
    assert read_categories(tmp_path / "c.tsv") == {"brick": "wall"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1 has no column 'raw_category'; expected a header line separated by tabs."),
        (
            "raw_category\tx\na\tb\n",
            "line 1 has no column 'mpcat40'; expected a header line separated by tabs.",
        ),
        ("raw_category\tmpcat40\n", "has no rows after the header."),
        ("raw_category\tmpcat40\na\n", "line 2 has 1 columns; expected 2, as in the header."),
        ("raw_category\tmpcat40\na\t \n", "line 2: column 'mpcat40' is empty; expected text."),
        ("raw_category\tmpcat40\n\tb\n", "line 2: column 'raw_category' is empty; expected text."),
        (
            "raw_category\tmpcat40\na\tb\na\tb\n",
            "line 3: column 'raw_category' repeats 'a'; expected unique names.",
        ),
    ],
)
def test_an_invalid_table_is_rejected(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "c.tsv"
    file.write_text(text)
    with pytest.raises(DataError, match="^" + re.escape(f"{file}: {message}") + "$"):
        read_categories(file)


@pytest.mark.real
def test_the_real_table_knows_every_real_object(real_data: Path) -> None:
    categories = read_categories(real_data / "category_mapping.tsv")
    assert len(categories) == 1_659
    assert len(set(categories.values())) == 42  # 40, and the classes "void" and "unlabeled"
    seen = [read_boxes(file) for file in boxes_files(real_data / "BBox")]
    assert {item.name for viewpoint in seen for item in viewpoint.objects} <= set(categories)
