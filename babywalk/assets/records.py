"""Reading the fields of a raw record; every error names file, record, field and what was expected."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from babywalk.common.errors import DataError
from babywalk.common.files import read_text

_MAX_FLOAT = sys.float_info.max


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object of a file, read field by field."""

    file: Path
    name: str  # for error messages: "record 3", "viewpoint 'a1'"
    fields: dict[str, Any]

    @classmethod
    def of(cls, file: Path, name: str, value: object) -> Record:
        """A record of a JSON value, which must be an object."""
        if not isinstance(value, dict):
            raise DataError(f"{file}: {name} is {_short(value)}; expected an object.")
        return cls(file, name, value)

    def wrong(self, field: str, expected: str) -> DataError:
        """The error for a field that is missing or invalid."""
        if field not in self.fields:
            return DataError(f"{self.file}: {self.name} has no field {field!r}; expected {expected}.")
        found = _short(self.fields[field])
        return DataError(f"{self.file}: {self.name}: field {field!r} is {found}; expected {expected}.")

    def string(self, field: str) -> str:
        """A non-empty string."""
        value = self.fields.get(field)
        if not isinstance(value, str) or not value:
            raise self.wrong(field, "a string")
        return value

    def integer(self, field: str) -> int:
        """An integer; a string of digits is accepted too, because some releases have it."""
        value = self.fields.get(field)
        if isinstance(value, str) and value.isdecimal() and len(value) < 20:
            value = int(value)
        if not _is_int64(value):
            raise self.wrong(field, "an integer below 2^63" if type(value) is int else "an integer")
        return value

    def exact_integer(self, field: str) -> int:
        """An integer from 0, not a string of digits."""
        value = self.fields.get(field)
        if not _is_int64(value) or value < 0:
            raise self.wrong(field, "an integer from 0")
        return value

    def number(self, field: str) -> float:
        """A finite number."""
        value = self.fields.get(field)
        if not _is_finite(value):
            raise self.wrong(field, "a finite number")
        return float(value)

    def boolean(self, field: str) -> bool:
        """True or false."""
        value = self.fields.get(field)
        if not isinstance(value, bool):
            raise self.wrong(field, "true or false")
        return value

    def items(self, field: str, expected: str) -> list[Any]:
        """A list with unchecked items."""
        value = self.fields.get(field)
        if not isinstance(value, list):
            raise self.wrong(field, expected)
        return value

    def integers(self, field: str) -> list[int]:
        """A list of integers, possibly empty."""
        value = self.items(field, "a list of integers")
        if not all(map(_is_int64, value)):
            raise self.wrong(field, "a list of integers")
        return value

    def numbers(self, field: str, count: int) -> list[float]:
        """A list of `count` finite numbers."""
        value = self.items(field, f"{count} finite numbers")
        if len(value) != count or not all(map(_is_finite, value)):
            raise self.wrong(field, f"{count} finite numbers")
        return [float(item) for item in value]

    def booleans(self, field: str, count: int) -> list[bool]:
        """A list of `count` booleans."""
        value = self.items(field, f"{count} booleans")
        if len(value) != count or not set(map(type, value)) <= {bool}:
            raise self.wrong(field, f"{count} booleans, one per viewpoint of the file")
        return value

    def strings(self, field: str) -> list[str]:
        """A non-empty list of non-empty strings."""
        value = self.items(field, "a list of strings")
        if not value or not all(isinstance(item, str) and item.strip() for item in value):
            raise self.wrong(field, "a non-empty list of non-empty strings")
        return value

    def table(self, field: str) -> dict[str, Any]:
        """An object with unchecked fields."""
        value = self.fields.get(field)
        if not isinstance(value, dict):
            raise self.wrong(field, "an object")
        return value

    def optional_strings(self, field: str) -> tuple[str, ...]:
        """A list of strings; empty if the field is missing."""
        value = self.items(field, "a list of strings") if field in self.fields else []
        if not all(isinstance(item, str) for item in value):
            raise self.wrong(field, "a list of strings")
        return tuple(value)


def records(file: Path, value: object, what: str = "record") -> Sequence[Record]:
    """The objects of a JSON list, numbered from 0 for error messages."""
    if not isinstance(value, list):
        raise DataError(f"{file}: contains {_short(value)}; expected a list of {what}s.")
    return [Record.of(file, f"{what} {index}", item) for index, item in enumerate(value)]


def lines(file: Path) -> list[str]:
    """The lines of a text file without their line ends (LF or CRLF)."""
    text = read_text(file).removesuffix("\n")
    return [line.removesuffix("\r") for line in text.split("\n")] if text else []


def _is_int64(value: Any) -> TypeGuard[int]:
    return type(value) is int and -(2**63) <= value < 2**63


def _is_finite(value: Any) -> TypeGuard[float]:
    # JSON allows integers beyond the range of a float.
    return type(value) in (int, float) and -_MAX_FLOAT <= value <= _MAX_FLOAT


def _short(value: object) -> str:
    """A value shortened for an error message."""
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object of {len(value)} fields"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
