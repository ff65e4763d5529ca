"""The command line: parses arguments, calls the functions in `commands`, prints their results."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence

from babywalk.cli import agents, data, evaluation, instructions, reproduce, view
from babywalk.cli.options import USER_ERROR, Parser, command, print_error
from babywalk.common.errors import BabyWalkError
from babywalk.common.progress import log_line
from babywalk.common.runtime import choose_threads, retain_freed_memory, set_threads
from babywalk.common.version import __version__

INTERRUPTED = 130  # exit code after Ctrl-C


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 2 after an error of the user, reported in one line.

    Without `arguments`, the process is taken to run this command alone, and its threads and memory are
    configured; called from Python with arguments, it is left as it is.
    """
    _configure_streams()
    options = build_parser().parse_args(arguments)
    if arguments is None:
        _configure_process(options)
    elif threads := getattr(options, "threads", None):
        set_threads(threads)
    try:
        options.run_command(options)
        sys.stdout.flush()
    except BabyWalkError as error:
        return _fail(str(error))
    except BrokenPipeError:  # the reader of the pipe has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        hint = " Free some space and try again; existing files are unchanged."
        return _fail(f"{where}{error.strerror or error}.{hint if error.errno == errno.ENOSPC else ''}")
    except (MemoryError, RuntimeError) as error:
        # torch reports a failed allocation as a RuntimeError.
        if isinstance(error, RuntimeError) and "allocate memory" not in str(error):
            raise
        return _fail("Out of memory. Reduce what you asked for, batch sizes first.")
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted. No partial files were left.\n")
        return INTERRUPTED
    return 0


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = Parser(
        prog="babywalk",
        description="Vision-and-language navigation by taking Baby-Steps.",
        epilog="Start here:\n  babywalk data dollhouse demo/data\n  babywalk data stats --data demo/data",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"babywalk {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    data_parser = command(
        commands, "data", "create, import, check and describe data", "babywalk data dollhouse demo/data"
    )
    data_commands = data_parser.add_subparsers(metavar="COMMAND", required=True)
    data.add_commands(data_commands)
    instructions.add_data_commands(data_commands)
    instructions.add_segment(commands)
    instructions.add_describe(commands)
    agents.add_commands(commands)
    evaluation.add_commands(commands)
    reproduce.add_commands(commands)
    view.add_commands(commands)
    return parser


def _configure_process(options: argparse.Namespace) -> None:
    retain_freed_memory()
    if hasattr(options, "threads"):
        notice = choose_threads(options.threads)
        if notice:
            log_line(notice)


def _configure_streams() -> None:
    """Open closed streams on the null device, and escape characters that a stream cannot encode."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, PTH123  # open until the process ends
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _fail(message: str) -> int:
    print_error(message)
    return USER_ERROR
