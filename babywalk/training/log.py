"""The log of a run: a CSV file and TensorBoard. A resumed run drops rows later than its checkpoint."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from babywalk.common.errors import DataError
from babywalk.common.files import atomic_write, naming_file_errors, read_text

_HEADER = ["total", "stage", "iteration", "name", "value"]


class Log:
    """Appends values; each row has the number of iterations of all stages before it."""

    def __init__(self, folder: Path, *, after: int) -> None:
        self.file = folder / "metrics.csv"
        self._drop_later_rows(after)
        self._stream = self.file.open("a", newline="", encoding="utf-8")
        self._writer = csv.writer(self._stream)
        self._board = _board(folder / "tensorboard", after)

    def add(self, total: int, stage: str, iteration: int, values: Mapping[str, float]) -> None:
        """Append a row per value."""
        with naming_file_errors(self.file):
            for name, value in values.items():
                self._writer.writerow([total, stage, iteration, name, repr(float(value))])
                if self._board is not None:
                    self._board.add_scalar(f"{stage}/{name}", value, total)
            self._stream.flush()

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
        with atomic_write(self.file) as temporary, temporary.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([_HEADER, *kept])


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
    text = read_text(file)
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
