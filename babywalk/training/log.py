"""The log of a run: a CSV file and TensorBoard. A resumed run drops rows later than its checkpoint."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from babywalk.common.files import atomic_write, naming_file_errors

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
            with self.file.open(newline="", encoding="utf-8") as lines:
                rows = list(csv.reader(lines))
            kept = [row for row in rows[1:] if len(row) == len(_HEADER) and _precedes(row, after)]
        with atomic_write(self.file) as temporary, temporary.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([_HEADER, *kept])


def _precedes(row: list[str], after: int) -> bool:
    """Whether a row was written before the checkpoint; the validation of an initial model comes after it."""
    total, _, iteration, *_ = row
    return int(total) < after or (int(total) == after and int(iteration) > 0)


def _board(folder: Path, after: int) -> Any:
    """TensorBoard's writer; None if it is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=after + 1 if after else None)
