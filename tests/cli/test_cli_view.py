"""`babywalk view` on the command line."""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from babywalk.cli import main


def test_a_file_is_written_without_torch_and_server(
    segmented_dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "walks.html"
    shown = ["any=random", "oracle"]
    arguments = ["--data", str(segmented_dollhouse), "--task", "r2r,r4r", "--split", "val_seen,test"]
    assert main(["view", *shown, *arguments, "--html", str(page)]) == 2
    assert "no r4r for test: the goals of its walks are not published." in capsys.readouterr().err
    assert (
        main(["view", *shown, *arguments[:4], "--split", "val_seen", "--limit", "9", "--html", str(page)])
        == 0
    )
    printed = capsys.readouterr().out
    assert "r2r val_seen: 9 of " in printed
    assert "r4r val_seen: 9 of " in printed
    assert f"The page is in {page} (" in printed
    assert page.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nobody"], "Agent 'nobody' is not known."),
        (["missing.json"], "missing.json: file not found."),
        (["x="], "'x=' has no name; give a result file, a run or an agent"),
        (["--split", "elsewhere"], "Split 'elsewhere' is not known."),
    ],
)
def test_mistakes_are_sentences(
    segmented_dollhouse: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    sentence: str,
) -> None:
    command = ["view", *arguments, "--data", str(segmented_dollhouse), "--html", str(tmp_path / "page.html")]
    try:
        code = main(command)
    except SystemExit as exit_:
        code = int(str(exit_.code))
    assert code == 2
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_the_live_page_answers_at_the_printed_address(segmented_dollhouse: Path) -> None:
    pytest.importorskip("uvicorn")
    command = [sys.executable, "-m", "babywalk", "view", "--data", str(segmented_dollhouse)]
    with subprocess.Popen(
        [*command, "--split", "val_seen", "--port", "0", "--no-browser"], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout
            words = server.stdout.readline().split()
            assert words[:4] == ["The", "page", "is", "at"]
            with urllib.request.urlopen(words[4], timeout=30) as answer:
                assert b"BabyWalk viewer" in answer.read()
        finally:
            server.terminate()
