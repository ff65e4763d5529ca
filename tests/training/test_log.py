"""The log of a run: its rows, and the checksum beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from babywalk.common.errors import DataError
from babywalk.training.log import Log, read_log


@pytest.fixture
def run(tmp_path: Path) -> Path:
    log = Log(tmp_path, after=0)
    for total in (1, 2, 3):
        log.add(total, "imitation", total, {"loss": 1 / total})
    log.close()
    return tmp_path


def losses(run: Path) -> list[float]:
    return [row.value for row in read_log(run / "metrics.csv")]


def resume(run: Path, after: int) -> None:
    Log(run, after=after).close()


def test_rows_are_ordinary_csv(run: Path) -> None:
    assert (run / "metrics.csv").read_bytes().decode().split("\r\n") == [
        "total,stage,iteration,name,value",
        "1,imitation,1,loss,1.0",
        "2,imitation,2,loss,0.5",
        f"3,imitation,3,loss,{1 / 3!r}",
        "",
    ]


@pytest.mark.parametrize(
    ("old", "new"), [(b"0.5", b"0.6"), (b"2,imitation,2,loss,0.5\r\n", b""), (b"0.5", b"0.50")]
)
def test_a_changed_value_or_a_missing_line_is_an_error(run: Path, old: bytes, new: bytes) -> None:
    file = run / "metrics.csv"
    file.write_bytes(file.read_bytes().replace(old, new))
    for read in (losses, lambda run: resume(run, 3)):
        with pytest.raises(
            DataError, match=r"metrics\.csv: does not match metrics\.sha256: .* or remove metr"
        ):
            read(run)
    (run / "metrics.sha256").unlink()
    assert len(losses(run)) == 2 + bool(new)


@pytest.mark.parametrize("added", ["4,imitation,4,loss,0.25\r\n", "4,imitation,4,lo"])
def test_a_run_killed_before_it_wrote_the_checksum_resumes(run: Path, added: str) -> None:
    with (run / "metrics.csv").open("a", newline="") as file:
        file.write(added)
    assert losses(run)[:3] == [1.0, 0.5, 1 / 3]
    resume(run, after=2)
    assert losses(run) == [1.0, 0.5]
    assert json.loads((run / "metrics.sha256").read_text())["bytes"] == (run / "metrics.csv").stat().st_size


@pytest.mark.parametrize("text", ["", "[]", '{"bytes": 10}', '{"bytes": 10, "sha256": "0"}', '{"bytes": -1}'])
def test_a_damaged_checksum_is_an_error(run: Path, text: str) -> None:
    (run / "metrics.sha256").write_text(text)
    with pytest.raises(DataError, match=r"metrics\."):
        losses(run)


def test_the_log_of_an_earlier_version_has_no_checksum(run: Path) -> None:
    (run / "metrics.sha256").unlink()
    resume(run, after=3)
    assert losses(run) == [1.0, 0.5, 1 / 3]
    assert (run / "metrics.sha256").exists()
