"""What commands share: how they are declared, what they take, how they answer."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

USER_ERROR = 2


def print_line(text: str) -> None:
    """Answer on standard output."""
    sys.stdout.write(text + "\n")


def comma_separated(text: str) -> list[str]:
    """Names with commas between them, each once."""
    return list(dict.fromkeys(name.strip() for name in text.split(",")))


def print_json(value: Any) -> None:
    """Answer in JSON."""
    print_line(json.dumps(value, indent=2, ensure_ascii=False, default=str))


class Parser(argparse.ArgumentParser):
    """A parser that answers a mistake with one sentence."""

    takes_text = False  # True where more words than expected are most likely a text without quotes

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse what is left over here, so that a command's mistakes lead to the command's own help."""
        found, left = super().parse_known_args(args, namespace)
        if left:
            hint = "; put the text in quotes" if self.takes_text else ""
            self.error(f"unrecognized arguments: {' '.join(left)}{hint}")
        return found, left

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and stop."""
        sys.stderr.write(f"babywalk: {message}. Try '{self.prog} --help'.\n")
        raise SystemExit(USER_ERROR)


def command(commands: Any, name: str, what: str, *examples: str) -> Parser:
    """A command with its examples under its help."""
    parser: Parser = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        epilog="\n".join(
            ["Examples:" if len(examples) > 1 else "Example:", *(f"  {line}" for line in examples)]
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def add_text(parser: Parser, what: str) -> None:
    """A text of several words, as one argument."""
    parser.add_argument("text", metavar="TEXT", help=f"{what}, in quotes")
    parser.takes_text = True


def add_data(parser: argparse.ArgumentParser) -> None:
    """The data directory."""
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="the data directory")


def add_task(parser: argparse.ArgumentParser) -> None:
    """The task."""
    parser.add_argument("--task", default="r2r", metavar="TASK", help="r2r (default), r4r, r6r or r8r")


def add_split(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """The split, or a sample of it."""
    parser.add_argument(
        "--split",
        default=default,
        required=default is None,
        metavar="SPLIT",
        help="train, val_seen, val_unseen or test; SPLIT:N is a seeded sample of N instructions",
    )


def add_seed(parser: argparse.ArgumentParser) -> None:
    """The seed."""
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of every random draw (default: 0)")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Answers for programs."""
    parser.add_argument("--json", action="store_true", help="answer in JSON, for programs")


def add_tagger(parser: argparse.ArgumentParser) -> None:
    """The tagger."""
    parser.add_argument(
        "--tagger",
        metavar="NAME",
        help="an installed spaCy pipeline (default: the one that ships with BabyWalk)",
    )


def add_features(parser: argparse.ArgumentParser) -> None:
    """The feature spec."""
    parser.add_argument(
        "--features", metavar="SPEC", help="what is seen (default: objects, or the first source)"
    )


def add_measuring(parser: argparse.ArgumentParser) -> None:
    """Options of what measures."""
    parser.add_argument(
        "--by-length",
        nargs="?",
        const="words",
        metavar="WHAT",
        help="also by length of the instruction (words, the default) or of the path (metres)",
    )
    parser.add_argument(
        "--per-path", action="store_true", help="average over paths instead of over instructions"
    )
    add_seed(parser)
    add_json(parser)


def shell_quoted(path: Path) -> str:
    """A path as a shell wants it, for commands that one may copy."""
    return shlex.quote(str(path))


def non_empty_path(text: str) -> Path:
    """A path; an empty text, as of a variable that nobody has set, would be the folder one is in."""
    if not text:
        raise argparse.ArgumentTypeError("is empty; give a path")
    return Path(text)


def degrees(text: str) -> float:
    """An angle."""
    with suppress(ValueError):
        if abs(angle := float(text)) <= 360:
            return angle
    raise argparse.ArgumentTypeError(f"{text!r} is no heading; give degrees from -360 to 360")


def named_file(text: str) -> tuple[str, Path]:
    """ "NAME=FILE", or a file that is named after itself."""
    name, equals, file = text.rpartition("=")
    return (name if equals else Path(file).stem.lower(), Path(file))


def table_cell(value: object) -> str:
    """A value in a table."""
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
