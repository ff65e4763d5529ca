from __future__ import annotations

import json
from pathlib import Path

import pytest

from babywalk.assets.results import Answer, read_results, write_results
from babywalk.common.errors import DataError


def test_both_forms_round_trip(tmp_path: Path) -> None:
    answers = [Answer("1_0", ("a", "b")), Answer("1_1", ("a",), ((0.5, -0.25),))]
    write_results(tmp_path / "r.json", answers)
    assert read_results(tmp_path / "r.json") == answers


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, r"r\.json: contains an object of 0 fields; expected a list of answers"),
        ([{"trajectory": ["a"]}], r"answer 0 has no field 'instr_id'"),
        ([{"instr_id": "1_0"}], r"answer 0 has no field 'trajectory'; expected a list of viewpoints"),
        (
            [{"instr_id": "1_0", "trajectory": [["a", 1]]}],
            r"expected viewpoints, or \[\"viewpoint\", heading",
        ),
        ([{"instr_id": "1_0", "trajectory": ["a", ["b", 1, 2]]}], r"expected viewpoints, or"),
        ([{"instr_id": "1_0", "trajectory": [["a", "x", 2]]}], r"expected viewpoints, or"),
    ],
)
def test_an_invalid_result_file_is_rejected(tmp_path: Path, content: object, message: str) -> None:
    (tmp_path / "r.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match=message):
        read_results(tmp_path / "r.json")
