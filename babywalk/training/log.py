"""The log of a run: a CSV file and TensorBoard. A resumed run drops rows later than its checkpoint.

Beside `metrics.csv` is `metrics.sha256`, JSON with the number of its bytes that are complete rows, and their
SHA-256. It is written after each append, so the CSV file may be longer, and is ordinary CSV.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from babywalk.assets.records import Record
from babywalk.common.errors import DataError
from babywalk.common.files import (
    atomic_write,
    decoded,
    naming_file_errors,
    read_bytes,
    read_json,
    write_json,
)

_HEADER = ["total", "stage", "iteration", "name", "value"]


class Log:
    """Appends values; each row has the number of iterations of all stages before it."""

    def __init__(self, folder: Path, *, after: int) -> None:
        self.file = folder / "metrics.csv"
        self._drop_later_rows(after)
        content = read_bytes(self.file)
        self._digest, self._bytes = hashlib.sha256(content), len(content)
        self._write_digest()
        self._stream = self.file.open("ab")
        self._board = _board(folder / "tensorboard", after)

    def add(self, total: int, stage: str, iteration: int, values: Mapping[str, float]) -> None:
        """Append a row per value."""
        rows = io.StringIO(newline="")
        csv.writer(rows).writerows(
            [total, stage, iteration, name, repr(float(value))] for name, value in values.items()
        )
        content = rows.getvalue().encode()
        with naming_file_errors(self.file):
            self._stream.write(content)
            self._stream.flush()
            for name, value in values.items():
                if self._board is not None:
                    self._board.add_scalar(f"{stage}/{name}", value, total)
        self._digest.update(content)
        self._bytes += len(content)
        self._write_digest()

    def close(self) -> None:
        """Close the files."""
        self._stream.close()
        if self._board is not None:
            self._board.close()

    def _drop_later_rows(self, after: int) -> None:
        """Drop rows that were written after the checkpoint from which a run resumes."""
        kept = []
        if self.file.exists():
            # The validation of an initial model, at iteration 0, comes after the checkpoint.
            kept = [
                [row.total, row.stage, row.iteration, row.name, repr(row.value)]
                for row in read_log(self.file)
                if row.total < after or (row.total == after and row.iteration > 0)
            ]
        _digest_file(self.file).unlink(missing_ok=True)  # before the file that it would no longer fit
        with atomic_write(self.file) as temporary, temporary.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([_HEADER, *kept])

    def _write_digest(self) -> None:
        fields = {"bytes": self._bytes, "sha256": self._digest.hexdigest()}
        write_json(_digest_file(self.file), fields, indent=None)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One row of a log."""

    total: int  # iterations of all stages
    stage: str
    iteration: int
    name: str
    value: float


def read_log(file: Path) -> Iterator[Measurement]:
    """The rows of a log; the last line may be incomplete while a run is writing."""
    text = decoded(_checked(file), file)
    rows = csv.reader(text[: text.rfind("\n") + 1].splitlines())
    try:
        if (header := next(rows, _HEADER)) != _HEADER:
            raise DataError(f"{file}: the first line is {header}; expected {','.join(_HEADER)}.")
        for row in rows:
            yield _measurement(row)
    except (csv.Error, TypeError, ValueError):
        raise DataError(
            f"{file}: line {rows.line_num} is not a measurement. Remove the line, or the file."
        ) from None


def _digest_file(file: Path) -> Path:
    return file.with_suffix(".sha256")


def _checked(file: Path) -> bytes:
    """The bytes of a log that fit its SHA-256; logs of earlier versions have none."""
    beside = _digest_file(file)
    if not beside.is_file():
        return read_bytes(file)
    record = Record.of(beside, "the checksum", read_json(beside))  # before the log, which may be growing
    size, expected = record.exact_integer("bytes"), record.string("sha256")
    content = read_bytes(file)
    if len(content) < size or hashlib.sha256(content[:size]).hexdigest() != expected:
        raise DataError(
            f"{file}: does not match {beside.name}: it was damaged or edited. "
            f"Restore it, or remove {beside.name} to read it as it is."
        )
    return content


def _measurement(row: list[str]) -> Measurement:
    total, stage, iteration, name, value = row
    found = Measurement(int(total), stage, int(iteration), name, float(value))
    if not 0 <= found.iteration <= found.total < 2**53 or not (stage and name) or abs(found.value) > 1e30:
        raise ValueError("out of range")
    return found


def _board(folder: Path, after: int) -> Any:
    """TensorBoard's writer; None if it is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=after + 1 if after else None)
