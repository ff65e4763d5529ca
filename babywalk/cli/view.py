"""The command that shows walks on a web page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from babywalk.cli.options import (
    add_data,
    add_device,
    add_seed,
    at_least_one,
    comma_separated,
    command,
    print_line,
)


def add_commands(commands: Any) -> None:
    """Add the command to the parser."""
    view = command(
        commands,
        "view",
        "show episodes and the paths of agents on a web page",
        "babywalk view results.json --data data --task r4r --split val_unseen --html walks.html",
        "babywalk view runs/babywalk runs/seq2seq --data data",
        "babywalk view runs/babywalk --data data --task r4r --3d 4332_0",
        "babywalk view MINE=a.json THEIRS=b.json random --data data --task r2r,r4r --html walks.html",
    )
    view.add_argument(
        "shown",
        nargs="*",
        type=_labelled,
        metavar="[NAME=]RESULTS.json|RUN",
        help="result files in the leaderboard's format, runs, models, stop, random or oracle; "
        "without any, the expert's paths",
    )
    add_data(view)
    view.add_argument(
        "--task", default="r2r", metavar="TASKS", help="such as r2r,r4r (default: r2r); the live page has all"
    )
    view.add_argument(
        "--split",
        default="val_unseen",
        metavar="SPLITS",
        help="such as val_seen,val_unseen (default: val_unseen)",
    )
    view.add_argument(
        "--limit",
        type=at_least_one,
        metavar="N",
        help="show at most N episodes of each, a seeded sample (default: 300)",
    )
    view.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="write one file that needs no server, instead of the live page",
    )
    view.add_argument(
        "--3d",
        dest="solid",
        metavar="EPISODE",
        help="show one episode of the task and split in 3-D, with viser",
    )
    view.add_argument("--port", type=int, default=8080, metavar="P", help="of the live page (default: 8080)")
    view.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="NAME",
        help="listen on another address, with a token (default: this machine only)",
    )
    view.add_argument("--no-browser", action="store_true", help="do not open the live page in a browser")
    add_seed(view)
    add_device(view)
    view.add_argument(
        "--threads",
        type=at_least_one,
        default=1,
        metavar="N",
        help="threads to compute with (default: 1, which leaves the other cores to the browser)",
    )
    view.set_defaults(run_command=_view)


def _view(options: argparse.Namespace) -> None:
    from babywalk.commands.view import LIMIT, live_page, make_service, show_solid, write_page

    tasks, splits = comma_separated(options.task), comma_separated(options.split)
    if options.solid:
        place = {"host": options.host, "port": options.port, "device": options.device}
        solid = show_solid(options.shown, options.data, tasks[0], splits[0], options.solid, **place)
        print_line(f"The house is at {solid.address} until you press Ctrl-C.")
        sys.stdout.flush()
        solid.run()
        return
    settings = {"limit": options.limit or LIMIT, "seed": options.seed, "device": options.device}
    if options.html:
        collections = write_page(options.shown, options.data, tasks, splits, options.html, **settings)
        for one in collections:
            print_line(f"{one.task.name} {one.task.split}: {len(one.task):,} of {one.total:,} episodes")
        size = options.html.stat().st_size / 1e6
        print_line(
            f"The page is in {options.html} ({size:.1f} MB). Open it in a browser; it needs no server."
        )
        return
    service = make_service(options.shown, options.data, tasks, splits, **settings)
    page = live_page(service, host=options.host, port=options.port)
    print_line(f"The page is at {page.address} until you press Ctrl-C.")
    sys.stdout.flush()  # before it waits, also into a pipe
    page.run(browser=not options.no_browser)


def _labelled(text: str) -> tuple[str, str]:
    """The label, which may be empty, and the name in "LABEL=NAME"."""
    label, _, name = text.rpartition("=")
    if not name:
        raise argparse.ArgumentTypeError(f"{text!r} has no name; give a result file, a run or an agent")
    return label, name
