"""The command that makes the tables of the paper anew."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from babywalk.cli.options import at_least_one, command, print_line, shell_quoted
from babywalk.common.config import from_assignments
from babywalk.common.errors import ConfigError


def add_commands(commands: Any) -> None:
    """Add the command to the parser."""
    reproduce = command(
        commands,
        "reproduce",
        "train and evaluate what tables of the paper need, and compare with the paper",
        "babywalk reproduce --list",
        "babywalk reproduce main memory --scale quick --seeds 3 --folder reproduction --plan",
        "babywalk reproduce main --folder reproduction --jobs 2",
        "babywalk reproduce main --data data --recipes recipes/real/rows --scale small --adopt runs/rows",
        "babywalk reproduce all --executor slurm --jobs 100 --slurm partition=cpu time=600 mem=8GB",
    )
    reproduce.add_argument(
        "names", nargs="*", metavar="NAME", help="experiments, as --list names them; all for every one"
    )
    reproduce.add_argument("--list", action="store_true", help="list the experiments")
    reproduce.add_argument(
        "--plan", action="store_true", help="print stages, cells, estimated hours and disk, and run nothing"
    )
    reproduce.add_argument(
        "--status", action="store_true", help="print how far it is, write the report, and run nothing"
    )
    reproduce.add_argument(
        "--folder",
        type=Path,
        default=Path("reproduction"),
        metavar="DIR",
        help="for runs, trajectories, logs and tables (default: reproduction)",
    )
    reproduce.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="data directory (default: the Dollhouse, built in the folder)",
    )
    reproduce.add_argument(
        "--scale", default="quick", metavar="SCALE", help="quick (default), small or paper"
    )
    reproduce.add_argument(
        "--seeds", type=at_least_one, default=1, metavar="N", help="train with seeds 0 to N - 1 (default: 1)"
    )
    reproduce.add_argument(
        "--split", metavar="SPLIT", help="to evaluate on, such as val_unseen:500 (default: the scale's)"
    )
    reproduce.add_argument(
        "--recipes",
        type=Path,
        metavar="DIR",
        help="a folder of recipes AGENT.toml, instead of the scale's settings",
    )
    reproduce.add_argument(
        "--adopt",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="folders of finished runs: those with the settings and data of a cell are used for it",
    )
    reproduce.add_argument(
        "--houses", type=at_least_one, default=30, metavar="N", help="of the Dollhouse (default: 30)"
    )
    reproduce.add_argument(
        "--jobs", type=at_least_one, default=2, metavar="N", help="stages at a time (default: 2)"
    )
    reproduce.add_argument(
        "--executor",
        default="local",
        metavar="NAME",
        help="local (default), debug (in this process) or slurm",
    )
    reproduce.add_argument(
        "--slurm",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="options of SLURM, such as partition=cpu time=600 mem=8GB",
    )
    reproduce.set_defaults(run_command=_reproduce)


def _reproduce(options: argparse.Namespace) -> None:
    from babywalk.commands.reproduce import (
        is_complete,
        list_experiments,
        plan_experiments,
        plan_text,
        report,
        reproduce,
        status_text,
    )

    if options.list:
        print_line(list_experiments())
        return
    if not options.names:
        raise ConfigError("No experiment is given. Name one or more of 'babywalk reproduce --list', or all.")
    plan = plan_experiments(
        options.names,
        options.folder,
        data=options.data,
        size=options.scale,
        seeds=options.seeds,
        split=options.split,
        recipes=options.recipes,
        adopt=options.adopt,
        houses=options.houses,
    )
    if options.plan:
        lines = plan_text(plan)
    else:
        if not options.status:
            plan = reproduce(
                plan, executor=options.executor, jobs=options.jobs, slurm=from_assignments(options.slurm)
            )
        lines = status_text(plan)
    for line in lines:
        print_line(line)
    if options.plan:
        return
    if page := report(plan, _typed(options)):
        print_line(f"Report: {page}; tables as Markdown and LaTeX: {page.parent / 'tables'}")
    if not (options.status or is_complete(plan)):
        raise ConfigError(
            f"{options.folder}: some stages are not finished; see above. The same command tries them again."
        )


def _typed(options: argparse.Namespace) -> str:
    """The command that makes the same tables."""
    words = ["babywalk", "reproduce", *options.names, "--scale", options.scale, "--seeds", str(options.seeds)]
    for name in ("data", "recipes"):
        if value := getattr(options, name):
            words += [f"--{name}", shell_quoted(value)]
    return " ".join([*words, *(["--split", options.split] if options.split else [])])
