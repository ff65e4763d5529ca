"""Commands about agents that learn."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from babywalk.assets.trained import built_in_models
from babywalk.cli.options import (
    add_data,
    add_json,
    add_split,
    add_text,
    comma_separated,
    command,
    degrees,
    non_empty_path,
    print_json,
    print_line,
    shell_quoted,
)
from babywalk.common.errors import ConfigError
from babywalk.common.files import check_folder
from babywalk.common.progress import log_line


def add_commands(commands: Any) -> None:
    """Declare them."""
    _add_train(commands)
    _add_curves(commands)
    _add_publish(commands)
    _add_follow(commands)


def _add_train(commands: Any) -> None:
    train = command(
        commands,
        "train",
        "train an agent: babywalk, seq2seq, or what a recipe file says",
        "babywalk train babywalk --data demo/data --task r4r --preset small --run runs/babywalk",
        "babywalk train seq2seq --data demo/data --run runs/seq2seq --set imitation.iterations=500",
        "babywalk train --config my.toml --data demo/data --run runs/mine --set policy.gamma=5",
        "babywalk train babywalk --data demo/data --run runs/babywalk --resume",
    )
    train.add_argument(
        "agent", nargs="?", metavar="AGENT", help="babywalk or seq2seq; a recipe names its own"
    )
    train.add_argument(
        "--config", type=Path, metavar="FILE.toml", help="a recipe: an agent and any settings of its training"
    )
    add_data(train)
    train.add_argument(
        "--run",
        type=non_empty_path,
        metavar="DIR",
        help="where the run is kept (default: runs/ and the agent or recipe, and the task if it is given)",
    )
    train.add_argument("--task", metavar="TASK", help="to train on (default: the recipe's, or r4r)")
    train.add_argument(
        "--preset",
        metavar="NAME",
        help="paper, small, objects (for object features), demo (shorter than small) or tiny (for tests); "
        "default: the recipe's, or small",
    )
    train.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="change settings, as in policy.gamma=5",
    )
    train.add_argument(
        "--resume", action="store_true", help="go on where a run stopped, with the settings it was begun with"
    )
    train.add_argument(
        "--seed", type=int, metavar="S", help="of every random draw (default: the recipe's, or 0)"
    )
    add_json(train)
    train.set_defaults(run_command=_train)


def _train(options: argparse.Namespace) -> None:
    from babywalk.commands.train import train_agent
    from babywalk.common.config import from_assignments, merged
    from babywalk.training.run_config import read_run_config

    settings = from_assignments(options.set)
    for name in ("task", "seed"):
        if getattr(options, name) is not None and name in settings:
            raise ConfigError(f"--{name} and --set {name}=... say the same thing. Give one of them.")
    if options.seed is not None:
        settings = merged({"seed": options.seed}, settings)
    named = [options.config.stem if options.config else options.agent, options.task]
    run = options.run or Path("runs") / "-".join(part for part in named if part)
    check_folder(run, "Give --run a new folder, or that of a run with --resume.")
    with _resumable(run):
        done = train_agent(
            options.agent,
            options.data,
            run,
            task=options.task,
            preset=options.preset,
            settings=settings,
            recipe=options.config,
            resume=options.resume,
        )
    if options.json:
        print_json(asdict(done))
        return
    for stage, best in done.bests.items():
        print_line(f"  {stage:<12} best validation SDTW {100 * best:.1f}")
    print_line(f"The model is {run / 'model.safetensors'}, after {done.total:,} iterations.")
    tasks = ",".join(dict.fromkeys(["r2r", read_run_config(run).config().task]))
    print_line(
        f"Next: babywalk evaluate {shell_quoted(run)} --data {shell_quoted(options.data)} --tasks {tasks} --split val_unseen"
    )


@contextmanager
def _resumable(run: Path) -> Iterator[None]:
    """Whoever is stopped hears how to go on."""
    from babywalk.training.run_config import is_run

    try:
        yield
    except (KeyboardInterrupt, OSError):
        if is_run(run):
            log_line(f"{run}: is kept. To go on with it, give the same command and --resume.")
        raise


def _add_curves(commands: Any) -> None:
    curves = command(
        commands,
        "curves",
        "draw how runs learned: loss, accuracy, reward, validation",
        "babywalk curves runs/babywalk --out curves.png",
        "babywalk curves runs/babywalk runs/seq2seq --out curves.svg --measure CLS",
    )
    curves.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="directories of runs, ended or not")
    curves.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="the picture to write: png, svg or pdf"
    )
    curves.add_argument(
        "--measure", default="SDTW", metavar="NAME", help="of validation: SDTW (default), SR, CLS, ..."
    )
    add_json(curves)
    curves.set_defaults(run_command=_curves)


def _curves(options: argparse.Namespace) -> None:
    from babywalk.commands.diagnose import learning_curves

    found = learning_curves(options.runs, options.out, options.measure)
    if options.json:
        print_json([asdict(run) for run in found])
        return
    print_line(f"Drawn in {options.out}")


def _add_publish(commands: Any) -> None:
    publish = command(
        commands,
        "publish",
        "write a run's weights and a model card made from facts",
        "babywalk publish runs/babywalk weights/babywalk --tasks r2r,r4r --split val_unseen",
        "babywalk publish runs/babywalk weights/small --precision float16 --results result.json",
    )
    publish.add_argument("model", type=Path, metavar="RUN", help="a run's directory")
    publish.add_argument("folder", type=Path, metavar="DIR", help="a new folder, as in weights/NAME")
    publish.add_argument("--data", type=Path, metavar="DIR", help="default: what the run was trained on")
    publish.add_argument(
        "--precision", default="float32", help="of the file: float32 (default) or float16, half as large"
    )
    publish.add_argument(
        "--tasks",
        metavar="TASKS",
        help="tasks, with commas between, on which the card says how well it walks",
    )
    add_split(publish, default="val_unseen")
    publish.add_argument(
        "--results",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE.json",
        help="more measures for the card: what 'babywalk evaluate --json' said",
    )
    add_json(publish)
    publish.set_defaults(run_command=_publish)


def _publish(options: argparse.Namespace) -> None:
    from babywalk.commands.publish import publish
    from babywalk.common.tables import format_bytes

    done = publish(
        options.model,
        options.folder,
        data=options.data,
        precision=options.precision,
        tasks=comma_separated(options.tasks) if options.tasks else (),
        split=options.split,
        results=options.results,
    )
    if options.json:
        print_json(asdict(done))
        return
    print_line(
        f"{done.folder}: model.safetensors ({format_bytes(done.bytes)}) and README.md, which you may want to read."
    )
    print_line(
        f"Next: babywalk evaluate {shell_quoted(done.folder)} --data DATA --tasks r4r --split val_unseen"
    )


def _add_follow(commands: Any) -> None:
    follow = command(
        commands,
        "follow",
        "let a trained agent follow an instruction that you type",
        'babywalk follow runs/babywalk --house dollhouse_025 --viewpoint d025-v017 "Exit the living room."',
        "babywalk follow dollhouse --data demo/data --house dollhouse_025 --viewpoint d025-v017 --heading 90 "
        '"Turn left."',
        "babywalk follow runs/babywalk --house dollhouse_025 --viewpoint d025-v017 --picture walk.png "
        '"Exit the room."',
    )
    follow.add_argument(
        "model",
        type=Path,
        metavar="RUN",
        help=f"a run's directory, a model's file, or a built-in model: {', '.join(built_in_models())}",
    )
    add_text(follow, "the instruction")
    follow.add_argument("--data", type=Path, metavar="DIR", help="default: what the run was trained on")
    follow.add_argument("--house", required=True, metavar="SCAN", help="the house it is in, as dollhouse_025")
    follow.add_argument("--viewpoint", required=True, metavar="ID", help="where the agent stands")
    follow.add_argument(
        "--heading",
        type=degrees,
        default=0.0,
        metavar="DEGREES",
        help="where it looks, -360 to 360: 0 is north (default), 90 east",
    )
    follow.add_argument("--picture", type=Path, metavar="FILE", help="draw the walk: png, svg or pdf")
    add_json(follow)
    follow.set_defaults(run_command=_follow)


def _follow(options: argparse.Namespace) -> None:
    from babywalk.commands.follow import follow_instruction

    found = follow_instruction(
        options.model,
        options.data,
        options.house,
        options.viewpoint,
        options.heading,
        options.text,
        picture=options.picture,
    )
    if options.json:
        print_json(asdict(found))
        return
    for number, step in enumerate(found.steps):
        print_line(f"{number + 1}  {step}")
        for move in found.moves:
            if move.step == number:
                read = ", ".join(word for word, _ in sorted(move.words, key=lambda pair: -pair[1])[:3])
                print_line(f"   {move.at} -> {move.to or 'STOP':<12} {move.probability:4.0%}  read: {read}")
    for number, left in enumerate(found.unread):
        if left:
            print_line(
                f"Step {number + 1} is longer than the agent reads: its last {len(left)} words are left out."
            )
    if found.unknown:
        print_line(f"Not known to the agent: {', '.join(found.unknown)}.")
    print_line(f"Path: {' '.join(found.path)}")
    if options.picture:
        print_line(f"Drawn in {options.picture}")
