"""Checking one raw record: every error names file, record and field, and says what was expected."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from babywalk.common.errors import DataError
from babywalk.common.files import read_text

_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object of a file, read field by field."""

    file: Path
    name: str  # how a user finds it: "record 3", "viewpoint 'a1'"
    fields: dict[str, Any]

    @classmethod
    def of(cls, file: Path, name: str, value: object) -> Record:
        """A record over a value that must be a JSON object."""
        if not isinstance(value, dict):
            raise DataError(f"{file}: {name} is {_short(value)}; expected an object.")
        return cls(file, name, value)

    def wrong(self, field: str, expected: str) -> DataError:
        """The error for a field that does not hold what its format promises."""
        if field not in self.fields:
            return DataError(f"{self.file}: {self.name} has no field {field!r}; expected {expected}.")
        found = _short(self.fields[field])
        return DataError(f"{self.file}: {self.name}: field {field!r} is {found}; expected {expected}.")

    def text(self, field: str) -> str:
        """A string that is not empty."""
        value = self.fields.get(field)
        if not isinstance(value, str) or not value:
            raise self.wrong(field, "a text")
        return value

    def whole(self, field: str) -> int:
        """A whole number; digits in a string are accepted, as some releases write them."""
        value = self.fields.get(field)
        if isinstance(value, str) and value.isdecimal() and len(value) < 20:
            return int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(field, "a whole number")
        return value

    def number(self, field: str) -> float:
        """A finite number."""
        value = self.fields.get(field)
        if not _is_finite(value):
            raise self.wrong(field, "a finite number")
        return float(value)

    def truth(self, field: str) -> bool:
        """True or false."""
        value = self.fields.get(field)
        if not isinstance(value, bool):
            raise self.wrong(field, "true or false")
        return value

    def items(self, field: str, expected: str) -> list[Any]:
        """A list of anything; what is in it is the caller's to check."""
        value = self.fields.get(field)
        if not isinstance(value, list):
            raise self.wrong(field, expected)
        return value

    def wholes(self, field: str) -> list[int]:
        """A list of whole numbers, perhaps empty."""
        value = self.items(field, "a list of whole numbers")
        if not set(map(type, value)) <= {int}:
            raise self.wrong(field, "a list of whole numbers")
        return value

    def numbers(self, field: str, count: int) -> list[float]:
        """A list of `count` finite numbers."""
        value = self.items(field, f"{count} finite numbers")
        if len(value) != count or not all(map(_is_finite, value)):
            raise self.wrong(field, f"{count} finite numbers")
        return [float(item) for item in value]

    def truths(self, field: str, count: int) -> list[bool]:
        """A list of `count` booleans."""
        value = self.items(field, f"{count} booleans")
        if len(value) != count or not set(map(type, value)) <= {bool}:
            raise self.wrong(field, f"{count} booleans, one per viewpoint of the file")
        return value

    def texts(self, field: str) -> list[str]:
        """A list of at least one text, none empty."""
        value = self.items(field, "a list of texts")
        if not value or not all(isinstance(item, str) and item.strip() for item in value):
            raise self.wrong(field, "a list of at least one text, none of them empty")
        return value


def records(file: Path, value: object, what: str = "record") -> Sequence[Record]:
    """The objects of a JSON list, numbered from 0 for error messages."""
    if not isinstance(value, list):
        raise DataError(f"{file}: holds {_short(value)}; expected a list of {what}s.")
    return [Record.of(file, f"{what} {index}", item) for index, item in enumerate(value)]


def lines(file: Path) -> list[str]:
    """The lines of a text file without their ends, which may be those of Unix or of Windows."""
    text = read_text(file).removesuffix("\n")
    return [line.removesuffix("\r") for line in text.split("\n")] if text else []


def _is_finite(value: Any) -> TypeGuard[float]:
    # Whole numbers beyond the range of a float are legal JSON.
    return type(value) in (int, float) and -_LARGEST <= value <= _LARGEST


def _short(value: object) -> str:
    """A value as an error message shows it: never more than a few words."""
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"an object of {len(value)} fields"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
