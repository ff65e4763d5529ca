"""Categories: the class of each object name, `category_mapping.tsv`.

The first line names the columns. Two are read: `raw_category` (an object name, unique) and `mpcat40` (one of
about 40 classes).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from babywalk.assets.records import lines
from babywalk.common.errors import DataError
from babywalk.common.files import write_text

NAME, CLASS_INDEX, CLASS = "raw_category", "mpcat40index", "mpcat40"


def read_categories(file: Path) -> dict[str, str]:
    """Read and check the table: object name to class name, in the order of the file."""
    rows = [line.split("\t") for line in lines(file)]
    header = rows[0] if rows else []
    for column in (NAME, CLASS):
        if column not in header:
            raise DataError(
                f"{file}: line 1 has no column {column!r}; expected a header line separated by tabs."
            )
    name_at, class_at = header.index(NAME), header.index(CLASS)
    categories: dict[str, str] = {}
    for number, row in enumerate(rows[1:], start=2):
        where = f"{file}: line {number}"
        if len(row) != len(header):
            raise DataError(f"{where} has {len(row)} columns; expected {len(header)}, as in the header.")
        name, category = row[name_at], row[class_at]
        for column, value in ((NAME, name), (CLASS, category)):
            if not value.strip():
                raise DataError(f"{where}: column {column!r} is empty; expected text.")
        if name in categories:
            raise DataError(f"{where}: column {NAME!r} repeats {name!r}; expected unique names.")
        categories[name] = category
    if not categories:
        raise DataError(f"{file}: has no rows after the header.")
    return categories


def write_categories(file: Path, categories: Mapping[str, str]) -> None:
    """Write the table in the raw format; classes are numbered as they first appear."""
    numbers = {
        category: number for number, category in enumerate(dict.fromkeys(categories.values()), start=1)
    }
    rows = [("index", NAME, CLASS_INDEX, CLASS)]
    for index, (name, category) in enumerate(categories.items(), start=1):
        rows.append((str(index), name, str(numbers[category]), category))
    write_text(file, "".join("\t".join(row) + "\n" for row in rows))
