"""Commands on instructions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from babywalk.cli import main


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_segment_marks_landmarks_and_accepts_other_word_lists(capsys: pytest.CaptureFixture[str]) -> None:
    text = "Walk past the couch. Climb the stairs."
    assert run("segment", text) == 0
    assert "landmarks: couch; verbs: walk" in capsys.readouterr().out
    assert run("segment", text, "--json", "--set", 'landmark_blacklist=["couch"]') == 0
    (step,) = json.loads(
        capsys.readouterr().out
    )  # without a landmark the first sentence goes with the second
    assert step["landmarks"] == ["stair"]
    assert run("segment", text, "--set", "verb_blaklist=[]") == 2
    assert "--set: verb_blaklist is not known. Did you mean verb_blacklist?" in capsys.readouterr().err


@pytest.mark.slow
def test_landmarks_and_alignment_are_learned_stored_and_compared(
    segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    shutil.copytree(segmented_dollhouse, data, ignore=shutil.ignore_patterns("cache"))
    assert run("data", "landmarks", "--data", data) == 0
    assert "landmarks of val_seen" in capsys.readouterr().out
    assert run("data", "align", "r2r", "r4r", "--data", data) == 0
    assert run("data", "align", "--data", data, "--check", "val_seen", "--json") == 0
    text = capsys.readouterr().out
    placed = json.loads(text[text.index("{") :])
    assert set(placed) == {"proportional", "paper", "best"}
    assert placed["best"]["exact"] > placed["proportional"]["exact"]
    assert run("data", "verify", data) == 0
    for method in ("paper", "proportional"):
        assert run("data", "align", "r2r", "--data", data, "--method", method) == 0
    assert run("data", "align", "--data", data) == 2
    assert "No task is given" in capsys.readouterr().err
