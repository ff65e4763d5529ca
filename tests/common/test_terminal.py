"""Control characters in data do not reach the terminal."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from babywalk.cli import main
from babywalk.cli.options import print_json, print_line
from babywalk.common.progress import log_line
from babywalk.common.terminal import printable


def test_control_characters_are_escaped_and_text_stays() -> None:
    assert printable("a\x1b[31mb\x07\r\x7f\x9b\u202e\ud800") == r"a\x1b[31mb\x07\r\x7f\x9b\u202e\ud800"
    plain = "Tür, 门 \U0001f6aa\tleft.\nStop."
    assert printable(plain) == plain


def test_lines_errors_and_notices_are_escaped_and_json_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    print_line("title \x1b]0;x\x07")
    log_line("\x1b[2J")
    assert main(["data", "stats", "--data", "none\x1b[31m"]) == 2
    found = capsys.readouterr()
    assert found.out == "title \\x1b]0;x\\x07\n"
    assert "\x1b" not in found.err
    assert "none\\x1b[31m: is not a data directory" in found.err
    print_json({"text": "\x9b1m\x1b"})
    assert json.loads(capsys.readouterr().out) == {"text": "\x9b1m\x1b"}


def test_wrong_arguments_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["data", "stats", "--data", "x", "--\x1b[31m"])
    assert "\\x1b[31m" in capsys.readouterr().err


def test_control_characters_in_names_of_files_are_escaped_by_verify(
    dollhouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(dollhouse, tmp_path / "data", ignore=shutil.ignore_patterns("raw"))
    (tmp_path / "data" / "r2r" / "\x1b]0;title\x07").touch()
    assert main(["data", "verify", str(tmp_path / "data")]) == 2
    assert "\\x1b]0;title\\x07 is not in a manifest" in capsys.readouterr().err
