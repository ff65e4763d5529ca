from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from babywalk.common.errors import DataError
from babywalk.evaluation.evaluate import Group, Measured
from babywalk.evaluation.report import Report, read_reports
from babywalk.navigation.measures import MEASURES

REPORT = Report(
    "r4r",
    "val_unseen",
    500,
    {name: Measured(0.25, 0.2, 0.3) for name in MEASURES},
    [Group("0-19", 3, {"SR": 0.5})],
)


def test_written_reports_are_read_back_unchanged(tmp_path: Path) -> None:
    measures = {**REPORT.measures, "NE": Measured(math.inf, 1, math.inf)}
    other = Report("r2r", "val_seen", 7, measures, [], unit="Baby-Steps", spl_start_is_goal="zero")
    other = replace(other, decoding="beam:known_map=true", known_map=True)
    reports = {"random 0": [REPORT, other], "random 1": [REPORT]}
    text = {agent: [asdict(report) for report in found] for agent, found in reports.items()}
    (tmp_path / "reports.json").write_text(json.dumps(text))
    assert read_reports(tmp_path / "reports.json") == reports


def _changed(**fields: Any) -> dict[str, Any]:
    return {"agent": [{**asdict(REPORT), **fields}]}


@pytest.mark.parametrize(
    "value",
    [
        [],
        {},
        {"agent": []},
        {"agent": 3},
        {"agent": [3]},
        {"agent": [{"task": "r2r"}]},
        _changed(task="r5r"),
        _changed(episodes="500"),
        _changed(measures={"SR": {"mean": 0.5, "low": 0.4, "high": 0.6}}),
        _changed(measures={name: {"mean": "0.5", "low": 0.4, "high": 0.6} for name in MEASURES}),
        _changed(measures={name: {"mean": 0.5} for name in MEASURES}),
        _changed(spl_start_is_goal="one"),
        _changed(strange=1),
        _changed(known_map=1),
    ],
)
def test_other_json_is_rejected(value: Any, tmp_path: Path) -> None:
    (tmp_path / "reports.json").write_text(json.dumps(value))
    with pytest.raises(DataError, match=r"reports\.json: is not the output of 'babywalk evaluate --json'\."):
        read_reports(tmp_path / "reports.json")
