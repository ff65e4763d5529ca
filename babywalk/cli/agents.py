"""Commands on learned agents: list, train, plot, publish, and follow an instruction."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from babywalk.assets.pretrained import built_in_models
from babywalk.cli.options import (
    add_data,
    add_decode,
    add_device,
    add_json,
    add_run_data,
    add_settings,
    add_split,
    add_text,
    add_threads,
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
    """Add the commands to the parser."""
    _add_agents(commands)
    _add_train(commands)
    _add_curves(commands)
    _add_publish(commands)
    _add_follow(commands)


def _add_agents(commands: Any) -> None:
    agents = command(
        commands, "agents", "list the agents to train and the built-in baselines", "babywalk agents"
    )
    add_json(agents)
    agents.set_defaults(run_command=_agents)


def _agents(options: argparse.Namespace) -> None:
    from babywalk.commands.agents import list_agents

    found = list_agents()
    if options.json:
        print_json([asdict(agent) for agent in found])
        return
    width = max(len(agent.name) for agent in found)
    for agent in found:
        source = f" ({agent.citation})" if agent.citation else ""
        print_line(f"{agent.name:<{width}}  {agent.summary}{source}")


def _add_train(commands: Any) -> None:
    train = command(
        commands,
        "train",
        "train an agent, given by name or by a recipe file",
        "babywalk train babywalk --data demo/data --task r4r --preset small --run runs/babywalk",
        "babywalk train seq2seq --data demo/data --run runs/seq2seq --set imitation.iterations=500",
        "babywalk train --config my.toml --data demo/data --run runs/mine --set policy.gamma=5",
        "babywalk train babywalk --data demo/data --run runs/babywalk --resume",
    )
    train.add_argument(
        "agent", nargs="?", metavar="AGENT", help="see 'babywalk agents'; not needed with a recipe"
    )
    train.add_argument(
        "--config", type=Path, metavar="FILE.toml", help="a recipe: an agent and settings of its training"
    )
    add_data(train)
    train.add_argument(
        "--run",
        type=non_empty_path,
        metavar="DIR",
        help="run directory (default: runs/NAME or runs/NAME-TASK, NAME of the agent or recipe)",
    )
    train.add_argument("--task", metavar="TASK", help="to train on (default: the recipe's, or r4r)")
    train.add_argument(
        "--preset",
        metavar="NAME",
        help="paper, small, objects (for object features), demo (shorter than small) or tiny (for tests); "
        "default: the recipe's, or small",
    )
    add_settings(train, "change settings, as in policy.gamma=5")
    train.add_argument(
        "--resume", action="store_true", help="continue a run from its last checkpoint, with its settings"
    )
    train.add_argument("--seed", type=int, metavar="S", help="random seed (default: the recipe's, or 0)")
    add_device(train, default=None)
    add_threads(train)
    add_json(train)
    train.set_defaults(run_command=_train)


def _train(options: argparse.Namespace) -> None:
    from babywalk.commands.train import train_agent
    from babywalk.training.run_config import read_run_config

    settings = _settings(options)
    names = [options.config.stem if options.config else options.agent, options.task]
    run = options.run or Path("runs") / "-".join(name for name in names if name)
    check_folder(run, "Give --run a new folder, or that of a run with --resume.")
    with _resume_hint(run):
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
    print_line(f"Model: {run / 'model.safetensors'}, after {done.total:,} iterations.")
    tasks = ",".join(dict.fromkeys(["r2r", read_run_config(run).config().task]))
    where = f"--data {shell_quoted(options.data)} --tasks {tasks} --split val_unseen"
    print_line(f"Next: babywalk evaluate {shell_quoted(run)} {where}")


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """The settings of --set, --seed, --threads and --device; none may be given in two ways."""
    from babywalk.common.config import from_assignments

    settings = from_assignments(options.set)
    for name in ("task", "seed", "threads", "device"):
        value = getattr(options, name)
        if value is not None and name in settings:
            raise ConfigError(f"--{name} and --set {name}=... set the same thing. Give one of them.")
        if value is not None and name != "task":
            settings[name] = value
    return settings


@contextmanager
def _resume_hint(run: Path) -> Iterator[None]:
    """When training is interrupted, print how to resume the run."""
    from babywalk.training.run_config import is_run

    try:
        yield
    except (KeyboardInterrupt, OSError):
        if is_run(run):
            log_line(f"{run}: the run is kept. To resume it, give the same command and --resume.")
        raise


def _add_curves(commands: Any) -> None:
    curves = command(
        commands,
        "curves",
        "plot the training curves of runs: loss, accuracy, reward, validation",
        "babywalk curves runs/babywalk --out curves.png",
        "babywalk curves runs/babywalk runs/seq2seq --out curves.svg --measure CLS",
    )
    curves.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="run directories, finished or not")
    curves.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="figure to write: png, svg or pdf"
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
    print_line(f"Figure: {options.out}")


def _add_publish(commands: Any) -> None:
    publish = command(
        commands,
        "publish",
        "write the weights of a run, and a model card with its facts and measures",
        "babywalk publish runs/babywalk weights/babywalk --tasks r2r,r4r --split val_unseen",
        "babywalk publish runs/babywalk weights/small --precision float16 --results result.json",
    )
    publish.add_argument("model", type=Path, metavar="RUN", help="run directory")
    publish.add_argument("folder", type=Path, metavar="DIR", help="new folder, as in weights/NAME")
    add_run_data(publish)
    publish.add_argument(
        "--precision", default="float32", help="of the weights: float32 (default) or float16, half the size"
    )
    publish.add_argument("--tasks", metavar="TASKS", help="tasks to measure for the card, such as r2r,r4r")
    add_split(publish, default="val_unseen")
    publish.add_argument(
        "--results",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE.json",
        help="more measures for the card: output of 'babywalk evaluate --json'",
    )
    add_threads(publish)
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
    print_line(f"{done.folder}: model.safetensors ({format_bytes(done.bytes)}), and README.md to check.")
    where = "--data DATA --tasks r4r --split val_unseen"
    print_line(f"Next: babywalk evaluate {shell_quoted(done.folder)} {where}")


def _add_follow(commands: Any) -> None:
    follow = command(
        commands,
        "follow",
        "follow an instruction that you type, with a trained agent",
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
        help=f"run directory, model file, or a built-in model: {', '.join(built_in_models())}",
    )
    add_text(follow, "the instruction")
    add_run_data(follow)
    follow.add_argument("--house", required=True, metavar="SCAN", help="the house, as dollhouse_025")
    follow.add_argument("--viewpoint", required=True, metavar="ID", help="start viewpoint")
    follow.add_argument(
        "--heading",
        type=degrees,
        default=0.0,
        metavar="DEGREES",
        help="start heading, -360 to 360: 0 is north (default), 90 east",
    )
    follow.add_argument("--picture", type=Path, metavar="FILE", help="draw the trajectory: png, svg or pdf")
    add_decode(follow)
    add_device(follow)
    add_threads(follow)
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
        device=options.device,
        decode=options.decode,
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
    for number, unread in enumerate(found.unread):
        if unread:
            print_line(f"Step {number + 1} is too long: its last {len(unread)} words are ignored.")
    if found.unknown:
        print_line(f"Words not in the vocabulary: {', '.join(found.unknown)}.")
    print_line(f"Path: {' '.join(found.path)}")
    if options.picture:
        print_line(f"Picture: {options.picture}")
