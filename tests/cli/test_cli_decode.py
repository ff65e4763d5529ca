"""--decode of the commands that walk with an agent."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from babywalk.cli import main
from babywalk.episodes.dataset import Dataset

SEARCH = "frontier:candidates=3,short=true"


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def evaluate(data: Path, *options: object, agent: str = "dollhouse") -> list[object]:
    return ["evaluate", agent, "--data", data, "--tasks", "r2r", "--split", "val_seen:6", *options]


def report_of(capsys: pytest.CaptureFixture[str], *command: object) -> dict[str, Any]:
    capsys.readouterr()
    assert run(*command, "--json") == 0
    reports: list[dict[str, Any]] = next(iter(json.loads(capsys.readouterr().out).values()))
    return reports[0]


def test_evaluate_says_how_it_decoded(segmented_dollhouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report_of(capsys, *evaluate(segmented_dollhouse))["decoding"] == "greedy"
    known = report_of(capsys, *evaluate(segmented_dollhouse, "--decode", "beam:size=2,known_map=true"))
    assert (known["decoding"], known["known_map"]) == ("beam:size=2,known_map=true", True)
    walked = report_of(capsys, *evaluate(segmented_dollhouse, "--decode", "beam:size=2"))
    assert not walked["known_map"]
    assert walked["measures"]["PL"]["mean"] > known["measures"]["PL"]["mean"]
    assert walked["measures"]["SR"] == known["measures"]["SR"]
    assert run(*evaluate(segmented_dollhouse, "--decode", "beam:size=2,known_map=true")) == 0
    text = capsys.readouterr().out
    assert "\nDecoded by beam:size=2,known_map=true.\nThe agent had the map of the house:" in text


def test_samples_differ_by_seed_alone(segmented_dollhouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lengths = [
        report_of(capsys, *evaluate(segmented_dollhouse, "--decode", spec, "--seed", seed))["measures"]["PL"]
        for spec, seed in (("sample", 0), ("sample", 0), ("sample:seed=0", 0), ("sample:temperature=3", 0))
    ]
    assert lengths[0] == lengths[1] == lengths[2] != lengths[3]


def test_single_baby_steps_and_diagnosis_are_decoded_too(
    aligned_dollhouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = report_of(capsys, *evaluate(aligned_dollhouse, "--baby-steps", "--decode", SEARCH))
    assert (found["unit"], found["decoding"]) == ("Baby-Steps", SEARCH)
    where = ["--data", aligned_dollhouse, "--task", "r2r", "--split", "val_seen:6"]
    assert run("diagnose", "dollhouse", *where, "--decode", SEARCH) == 0


def test_follow_shows_the_chosen_path_and_walks_everything(
    segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    houses = Dataset(segmented_dollhouse).houses
    numbers = houses.viewpoints("dollhouse_001")
    start = list(numbers)[3]
    command = ["follow", "dollhouse", "--data", segmented_dollhouse, "--house", "dollhouse_001"]
    command += ["--viewpoint", start, "Exit the room and turn left. Walk to the kitchen and stop."]
    found: dict[str, dict[str, Any]] = {}
    for spec in ("beam:size=4", "beam:size=4,known_map=true"):
        capsys.readouterr()
        picture = tmp_path / "walk.png"
        assert run(*command, "--decode", spec, "--json", "--picture", picture) == 0
        found[spec] = json.loads(capsys.readouterr().out)
    walked, known = found.values()
    assert walked["moves"] == known["moves"]
    assert [start, *(move["to"] for move in known["moves"] if move["to"])] == known["path"]
    assert len(walked["path"]) > len(known["path"])
    assert walked["path"][-1] == known["path"][-1]
    path = [numbers[name] for name in walked["path"]]
    assert all(b in houses.neighbours[a] for a, b in itertools.pairwise(path))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--decode", "beem"], "Decoder 'beem' is not known. Did you mean 'beam'?"),
        (["--decode", "beam:syze=3"], "Decoder beam: syze is not known. Did you mean size?"),
        (["--decode", "beam:by=progress"], "this agent has no progress monitor"),
        (["--decode", "beam:speaker=1"], "has no speaker"),
    ],
)
def test_wrong_decoders_are_reported(
    options: list[str], message: str, segmented_dollhouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*evaluate(segmented_dollhouse, *options)) == 2
    assert message in capsys.readouterr().err


def test_agents_that_score_nothing_are_not_decoded(
    dollhouse: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*evaluate(dollhouse, "--decode", "beam", agent="random")) == 2
    assert "Agent 'random' does not score actions. Leave out --decode." in capsys.readouterr().err
    where = ["--data", dollhouse, "--task", "r2r", "--split", "val_seen"]
    assert run("diagnose", "walks.json", *where, "--decode", "beam") == 2
    assert "walks.json: has the trajectories already. Leave out --decode." in capsys.readouterr().err
