"""The command line as a whole: help, errors, exit codes, streams."""

from __future__ import annotations

import argparse
import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from babywalk.cli import build_parser, main
from babywalk.training.presets import PRESETS


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def command_names(parser: argparse.ArgumentParser) -> Iterator[list[str]]:
    """The words of every command, and of every group of commands."""
    yield []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, nested in action.choices.items():
                yield from ([name, *words] for words in command_names(nested))


COMMANDS = list(command_names(build_parser()))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main([*command, "--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert "babywalk " + " ".join(command) in text.partition("xample")[2] + text.partition("Start here")[2]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            "follow",
            ["--house SCAN the house", "built-in model: dollhouse", "--heading 90", "--picture walk.png"],
        ),
        ("evaluate", ["built-in model: dollhouse", "--trajectories walks", "--by-length words"]),
        ("train", list(PRESETS)),
    ],
)
def test_help_lists_the_choices(
    command: str, expected: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert [words for words in expected if words not in text] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["data", "stats", "--data", "nowhere"],
            "nowhere: is not a data directory.",
        ),
        (
            ["data", "stats"],
            "are required: --data. Try 'babywalk data stats --help'.",
        ),
        (["dta"], "invalid choice: 'dta'"),
        (["data", "dollhouse", "{tmp}/new", "--houses", "1"], "houses"),
        (["data", "dollhouse", "{tmp}/new", "--houses", "x"], "invalid int value: 'x'"),
        (["data", "dollhouse", "{data}"], "is not empty. Give a new folder for the Dollhouse."),
        (["data", "import"], "No data directory is given: babywalk data import ... DIR."),
        (["data", "import", "{tmp}/new"], "A new data directory needs --connectivity and --r2r."),
        (["data", "import", "--r2r", "{tmp}", "--connectivity", "{tmp}", "{tmp}/new"], "has no file named"),
        (["data", "build", "r5r", "--data", "{data}"], "Task 'r5r' is not known. Did you mean"),
        (["data", "export", "r4r", "--data", "{data}", "--split", "tset", "x.json"], "Did you mean 'test'?"),
        (["data", "fetch", "resnt-imagenet"], "is not known. Did you mean 'resnet-imagenet'?"),
        (["data", "fetch", "boxes"], "add --accept-terms"),
        (["data", "verify", "{tmp}"], "is not a data directory"),
        (["data", "stats", "--data", "{data}", "--figure", "{tmp}/f.gif"], "png"),
        (
            ["evaluate", "bert", "--data", "{data}", "--split", "test"],
            "'bert' is not known.",
        ),
        (["evaluate", "stop", "--data", "{data}", "--split", "test"], "has no goals to score"),
        (
            ["evaluate", "stop", "--data", "{data}", "--split", "train", "--seeds", "0"],
            "argument --seeds: '0' is out of range; give a whole number from 1.",
        ),
        (
            ["evaluate", "--data", "{data}", "--split", "test"],
            "babywalk evaluate AGENT ...",
        ),
        (
            ["evaluate", "stop", "--agent", "random", "--data", "{data}", "--split", "test"],
            "The agent is given twice: 'stop', and --agent 'random'. Give it once.",
        ),
        (
            ["evaluate", "dollhouse", "--data", "{data}", "--split", "val_seen", "--device", "gpu"],
            "Device 'gpu' is not known. Did you mean 'cpu'? Choose from: auto, cpu, cuda.",
        ),
        (
            ["data", "align", "r2r", "--data", "{data}", "--threads", "none"],
            "argument --threads: 'none' is out of range; give a whole number from 1.",
        ),
        (["score", "{tmp}/none.json", "--data", "{data}", "--split", "train"], "file not found."),
        (
            ["follow", "r", "--house", "h", "--viewpoint", "v", "Exit", "the", "kitchen"],
            "unrecognized arguments: the kitchen; put the text in quotes. Try 'babywalk follow --help'.",
        ),
        (["segment", "Turn", "left"], "left; put the text in quotes. Try 'babywalk segment --help'."),
        (
            ["data", "stats", "--data", "{data}", "--fast"],
            "unrecognized arguments: --fast. Try 'babywalk data stats --help'.",
        ),
        (
            ["train", "babywalk", "--data", "{data}", "--run", __file__],
            f"{__file__}: is a file. Give --run a new folder, or that of a run with --resume.",
        ),
        (["train", "babywalk", "--data", "{data}", "--run", f"{__file__}/run"], f"{__file__}: is a file."),
        (["draw", "x.png", "--data", "{data}"], "Nothing to draw. Give --house SCAN, or --episode ID"),
        (["draw", "x.png", "--data", "{data}", "--house", "castle"], "House 'castle' is not known."),
        (["draw", "x.png", "--data", "{data}", "--episode", "0_99"], "is not known."),
    ],
)
def test_an_error_is_one_line_and_leaves_no_files(
    arguments: list[str],
    message: str,
    dollhouse: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    filled = [argument.format(tmp=tmp_path, data=dollhouse) for argument in arguments]
    try:
        code = main(filled)
    except SystemExit as end:
        code = int(end.code or 0)
    output = capsys.readouterr()
    assert code == 2
    assert message in output.err
    assert output.err.startswith("babywalk: ")
    assert output.err.count("\n") == 1
    assert "Traceback" not in output.err
    assert not list(tmp_path.iterdir())  # no partial output


def test_a_process_prints_no_progress_bar_and_survives_a_closed_pipe(dollhouse: Path) -> None:
    command = [sys.executable, "-m", "babywalk", "data", "stats", "--data", str(dollhouse)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    closed = subprocess.run(
        f"{' '.join(command)} | head -1", shell=True, capture_output=True, text=True, check=True
    )
    assert closed.stderr == ""
    assert closed.stdout.startswith("4 houses")


def test_a_full_disk_is_reported_with_a_hint(
    dollhouse: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from babywalk.commands import data

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "data/x")

    monkeypatch.setattr(data, "data_statistics", full)
    assert run("data", "stats", "--data", dollhouse) == 2
    assert capsys.readouterr().err == (
        "babywalk: data/x: No space left on device. "
        "Free some space and try again; existing files are unchanged.\n"
    )


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("[...] can't allocate memory: you tried")])
def test_out_of_memory_is_reported(
    error: Exception, dollhouse: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def too_much(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("babywalk.commands.data.data_statistics", too_much)
    assert run("data", "stats", "--data", dollhouse) == 2
    assert "Out of memory." in capsys.readouterr().err


def test_closed_streams_and_limited_encodings_are_handled(dollhouse: Path) -> None:
    command = f"{sys.executable} -m babywalk data stats --data {dollhouse}"
    closed = subprocess.run(f"{command} >&-", shell=True, capture_output=True, text=True, check=False)
    assert (closed.returncode, closed.stderr) == (0, "")
    strange = [sys.executable, "-m", "babywalk", "data", "stats", "--data", "日本語"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    failed = subprocess.run(strange, capture_output=True, text=True, check=False, env=environment)
    assert failed.returncode == 2
    assert failed.stderr.startswith("babywalk: \\u65e5")


def test_a_folder_as_output_file_is_an_error(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("data", "export", "r2r", "--data", dollhouse, "--split", "val_seen", tmp_path) == 2
    assert f"{tmp_path}: is a folder. Give the name of a file." in capsys.readouterr().err


def test_only_a_process_of_its_own_is_configured(
    dollhouse: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    requests: list[int | None] = []
    monkeypatch.setattr(
        "babywalk.cli.choose_threads", lambda count: requests.append(count) or "2 cores are busy."
    )
    monkeypatch.setattr("babywalk.cli.retain_freed_memory", lambda: True)
    arguments = ["evaluate", "stop", "--data", str(dollhouse), "--split", "val_seen:3"]
    assert main(arguments) == 0
    assert requests == []
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["babywalk", *arguments])
    assert main() == 0
    assert requests == [None]
    assert capsys.readouterr().err == "2 cores are busy.\n"
    monkeypatch.setattr(sys, "argv", ["babywalk", "data", "stats", "--data", str(dollhouse)])
    assert main() == 0
    assert requests == [None]  # it does not use torch
