"""The command line: arguments to recipes and results to text. What is done stands in `recipes`."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence

from babywalk.cli import agents, data, language, results
from babywalk.cli.options import USER_ERROR, Parser, command
from babywalk.common.errors import BabyWalkError
from babywalk.common.runtime import retain_freed_memory
from babywalk.common.version import __version__

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. Bad input is one sentence on standard error and code 2."""
    _settle_streams()
    options = _parser().parse_args(arguments)
    retain_freed_memory()
    try:
        options.run_command(options)
        sys.stdout.flush()
    except BabyWalkError as error:
        return _fail(str(error))
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        full = error.errno == errno.ENOSPC
        hint = " Make room, then go on; what was there before is as it was." if full else ""
        return _fail(f"{where}{error.strerror or error}.{hint}")
    except (MemoryError, RuntimeError) as error:
        # Torch has no error of its own for it.
        if isinstance(error, RuntimeError) and "allocate memory" not in str(error):
            raise
        return _fail("There is not enough memory for this. Make what you asked for smaller, batches first.")
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted; nothing half-written was kept.\n")
        return INTERRUPTED
    return 0


def _settle_streams() -> None:
    """What is said can always be said: to nobody if a stream is closed, and in characters that it has."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, PTH123  # for as long as the program
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _fail(message: str) -> int:
    sys.stderr.write(f"babywalk: {message}\n")
    return USER_ERROR


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="babywalk",
        description="Vision-and-language navigation by taking Baby-Steps.",
        epilog="Start here:\n  babywalk data dollhouse demo/data\n  babywalk data stats --data demo/data",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"babywalk {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    about_data = command(commands, "data", "make, read, check and describe data", "babywalk data --help")
    data_commands = about_data.add_subparsers(metavar="COMMAND", required=True)
    data.add_commands(data_commands)
    language.add_commands(data_commands)
    language.add_segment(commands)
    agents.add_commands(commands)
    results.add_commands(commands)
    return parser
