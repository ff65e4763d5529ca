"""Shared by all commands: the parser, common options, argument types and printing."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from babywalk.common.files import is_unicode
from babywalk.common.terminal import printable

USER_ERROR = 2  # exit code


def print_line(text: str) -> None:
    """Print to standard output, control characters escaped."""
    sys.stdout.write(printable(text) + "\n")


def print_error(message: str) -> None:
    """Print the one line of an error to standard error, control characters escaped."""
    sys.stderr.write(f"babywalk: {printable(message)}\n")


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, default=str) + "\n")


class Parser(argparse.ArgumentParser):
    """A parser that reports a mistake in one line, with a pointer to the command's own help."""

    takes_text = False  # True if surplus arguments are probably a text without quotes

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Reject surplus arguments in the subparser, so that the error names the command's own help."""
        found, surplus = super().parse_known_args(args, namespace)
        if surplus:
            hint = "; put the text in quotes" if self.takes_text else ""
            self.error(f"unrecognized arguments: {' '.join(surplus)}{hint}")
        return found, surplus

    def error(self, message: str) -> NoReturn:
        """Print the error and exit with code 2."""
        print_error(f"{message}. Try '{self.prog} --help'.")
        raise SystemExit(USER_ERROR)


def command(commands: Any, name: str, summary: str, *examples: str) -> Parser:
    """Add a command; its help ends with the examples."""
    parser: Parser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog="\n".join(
            ["Examples:" if len(examples) > 1 else "Example:", *(f"  {line}" for line in examples)]
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def add_text(parser: Parser, what: str) -> None:
    """Add the positional argument TEXT."""
    parser.add_argument("text", type=unicode_text, metavar="TEXT", help=f"{what}, in quotes")
    parser.takes_text = True


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add --data, required."""
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="data directory")


def add_run_data(parser: argparse.ArgumentParser) -> None:
    """Add --data, which defaults to the data of the run."""
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="data directory (default: the one the run was trained on)"
    )


def add_task(parser: argparse.ArgumentParser) -> None:
    """Add --task."""
    parser.add_argument("--task", default="r2r", metavar="TASK", help="r2r (default), r4r, r6r or r8r")


def add_split(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Add --split, required unless it has a default."""
    suffix = f" (default: {default})" if default else ""
    parser.add_argument(
        "--split",
        default=default,
        required=default is None,
        metavar="SPLIT",
        help=f"train, val_seen, val_unseen or test; SPLIT:N is a seeded sample of N instructions{suffix}",
    )


def add_splits(parser: argparse.ArgumentParser, default: str) -> None:
    """Add --splits, which takes several names; the help describes the default."""
    parser.add_argument(
        "--splits", nargs="+", action="extend", metavar="SPLIT", help=f"splits (default: {default})"
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add --seed."""
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="random seed (default: 0)")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_settings(parser: argparse.ArgumentParser, what: str, metavar: str = "NAME=VALUE") -> None:
    """Add --set, which takes several assignments."""
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar=metavar, help=what)


def add_tagger(parser: argparse.ArgumentParser) -> None:
    """Add --tagger."""
    parser.add_argument(
        "--tagger", metavar="NAME", help="an installed spaCy pipeline (default: the one in the package)"
    )


def add_features(parser: argparse.ArgumentParser) -> None:
    """Add --features."""
    parser.add_argument(
        "--features",
        metavar="SPEC",
        help="view features (default: objects if there are any, else the first source)",
    )


def add_reporting(parser: argparse.ArgumentParser) -> None:
    """Add the options on how measures are averaged and printed."""
    parser.add_argument(
        "--by-length",
        nargs="?",
        const="words",
        metavar="UNIT",
        help="also report by length of the instruction (words, the default) or of the path (metres)",
    )
    parser.add_argument(
        "--per-path", action="store_true", help="average over paths instead of over instructions"
    )
    parser.add_argument(
        "--spl-start-is-goal",
        default="success",
        metavar="RULE",
        help="SPL where a reference path ends at its start: success (default: equal to SR) or zero",
    )
    add_seed(parser)
    add_json(parser)


def add_device(parser: argparse.ArgumentParser, default: str | None = "auto") -> None:
    """Add --device, for commands that run a network."""
    parser.add_argument(
        "--device", default=default, metavar="NAME", help="auto (default: cuda if available), cpu or cuda"
    )


def add_decode(parser: argparse.ArgumentParser) -> None:
    """Add --decode, for commands that walk with an agent that scores actions."""
    parser.add_argument(
        "--decode",
        metavar="DECODER",
        help="greedy, sample, beam, state-factored, pragmatic or frontier, with settings as in "
        "frontier:candidates=20,short=true; see docs/search.md (default: the agent's)",
    )


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Add --threads, for commands that compute with torch."""
    parser.add_argument(
        "--threads",
        type=at_least_one,
        metavar="N",
        help="threads to compute with (default: the cores that other processes leave idle)",
    )


def shell_quoted(path: Path) -> str:
    """A path quoted for a shell, for commands to copy."""
    return shlex.quote(str(path))


def comma_separated(text: str) -> list[str]:
    """The names in a list with commas, without duplicates."""
    return list(dict.fromkeys(name.strip() for name in text.split(",")))


def non_empty_path(text: str) -> Path:
    """A path; an empty text, as from an unset shell variable, would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("is empty; give a path")
    return Path(text)


def unicode_text(text: str) -> str:
    """A text of valid characters; bytes of the command line that are not UTF-8 are none."""
    if not is_unicode(text):
        raise argparse.ArgumentTypeError("is not UTF-8 text")
    return text


def at_least_one(text: str) -> int:
    """A whole number from 1."""
    with suppress(ValueError):
        if (number := int(text)) >= 1:
            return number
    raise argparse.ArgumentTypeError(f"{text!r} is out of range; give a whole number from 1")


def degrees(text: str) -> float:
    """An angle in degrees."""
    with suppress(ValueError):
        if abs(angle := float(text)) <= 360:
            return angle
    raise argparse.ArgumentTypeError(f"{text!r} is not a heading; give degrees from -360 to 360")


def named_file(text: str) -> tuple[str, Path]:
    """The name and the file in "NAME=FILE"; the name defaults to that of the file."""
    name, equals, file = text.rpartition("=")
    return (name if equals else Path(file).stem.lower(), Path(file))


def table_cell(value: object) -> str:
    """A value as text for a table."""
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
