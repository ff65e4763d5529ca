"""Every field of a raw record is checked; the error says what was found and what was expected."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from babywalk.assets.records import Record, lines, records
from babywalk.common.errors import DataError

FILE = Path("house.json")


def record(value: object) -> Record:
    return Record(FILE, "record 3", {"field": value})


@pytest.mark.parametrize(
    ("read", "value", "result"),
    [
        (Record.string, "a", "a"),
        (Record.integer, -7, -7),
        (Record.integer, "4332", 4332),
        (Record.number, 2, 2.0),
        (Record.number, 2.5, 2.5),
        (Record.boolean, False, False),
        (Record.strings, ["a", "b"], ["a", "b"]),
        (Record.integers, [], []),
        (Record.integers, [3, -1], [3, -1]),
    ],
)
def test_valid_fields_are_read(read: Callable[[Record, str], Any], value: object, result: object) -> None:
    assert read(record(value), "field") == result


@pytest.mark.parametrize(
    ("read", "value", "message"),
    [
        (Record.string, "", "is ''; expected a string."),
        (Record.string, 3, "is 3; expected a string."),
        (Record.string, ["x"], "is a list of 1; expected a string."),
        (Record.integer, True, "is True; expected an integer."),
        (Record.integer, 1.5, "is 1.5; expected an integer."),
        (Record.integer, "9" * 5000, f"is '{'9' * 36}...; expected an integer."),
        (Record.number, "1", "is '1'; expected a finite number."),
        (Record.number, True, "is True; expected a finite number."),
        (Record.number, float("nan"), "is nan; expected a finite number."),
        (Record.number, 10**400, f"is 1{'0' * 36}...; expected a finite number."),
        (Record.boolean, 1, "is 1; expected true or false."),
        (Record.strings, [], "is a list of 0; expected a non-empty list of non-empty strings."),
        (
            Record.strings,
            ["a", " "],
            "is a list of 2; expected a non-empty list of non-empty strings.",
        ),
        (Record.strings, {"a": 1}, "is an object of 1 fields; expected a list of strings."),
        (Record.integers, [1, True], "is a list of 2; expected a list of integers."),
        (Record.integers, None, "is None; expected a list of integers."),
    ],
)
def test_invalid_fields_are_rejected(read: Callable[[Record, str], Any], value: object, message: str) -> None:
    with pytest.raises(
        DataError, match="^" + re.escape(f"house.json: record 3: field 'field' {message}") + "$"
    ):
        read(record(value), "field")


@pytest.mark.parametrize("value", [[1.0, 2.0], [1.0, 2.0, float("inf")], [1.0, 2.0, "3"], [1, 2, 10**400]])
def test_numbers_must_be_finite_and_of_the_given_count(value: list[Any]) -> None:
    with pytest.raises(DataError, match="expected 3 finite numbers"):
        record(value).numbers("field", 3)
    assert record([1, 2.5, 3]).numbers("field", 3) == [1.0, 2.5, 3.0]


@pytest.mark.parametrize("value", [[True], [True, 0], 3])
def test_booleans_must_be_of_the_given_count(value: object) -> None:
    with pytest.raises(DataError, match="expected 2 booleans"):
        record(value).booleans("field", 2)
    assert record([True, False]).booleans("field", 2) == [True, False]


def test_a_missing_field_is_reported() -> None:
    with pytest.raises(DataError, match=r"^house.json: record 3 has no field 'scan'; expected a string.$"):
        record(1).string("scan")


def test_a_file_must_be_a_list_of_objects() -> None:
    assert [item.name for item in records(FILE, [{}, {}], "viewpoint")] == ["viewpoint 0", "viewpoint 1"]
    with pytest.raises(DataError, match=r"^house.json: contains 'x'; expected a list of viewpoints.$"):
        records(FILE, "x", "viewpoint")
    with pytest.raises(DataError, match=r"^house.json: record 1 is a list of 0; expected an object.$"):
        records(FILE, [{}, []])


@pytest.mark.parametrize(
    ("raw", "result"),
    [
        (b"", []),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\n\n", ["a", ""]),
        ("a\u2028b\x85c\n".encode(), ["a\u2028b\x85c"]),
    ],
)
def test_lines_may_end_with_lf_or_crlf(tmp_path: Path, raw: bytes, result: list[str]) -> None:
    (tmp_path / "text").write_bytes(raw)
    assert lines(tmp_path / "text") == result
