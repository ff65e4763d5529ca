"""Stages: commands that make a file, run once; and the records of those that are finished or have failed.

A folder of experiments contains

    data/                the Dollhouse, unless another data directory is given
    runs/NAME/           a run of training
    walks/NAME/          the trajectories of a model on a task
    stages/NAME.json     the record of a finished stage
    failed/NAME.txt      why a stage failed last
    logs/NAME.log        what its commands print
    locks/NAME/          locked while a stage runs
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from babywalk.common.config import from_table
from babywalk.common.errors import BabyWalkError, ConfigError
from babywalk.common.files import (
    CAN_LOCK,
    check_signed,
    exclusive_lock,
    read_json,
    signed,
    write_json,
    write_text,
)
from babywalk.training.versions import versions

FORMAT = 1  # of what stages make: part of every key, so that a new format makes everything anew
KINDS = ("data", "speaker", "augmentation", "agent", "evaluation")
PROGRAM = (sys.executable, "-m", "babywalk")


class StageError(BabyWalkError):
    """A command of a stage failed."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Commands that make files. Two stages with the same name are the same stage."""

    name: str  # a file name; where the inputs can change, it ends in the key of their content
    kind: str
    commands: tuple[tuple[str, ...], ...]  # arguments of babywalk, one command after the other
    products: tuple[Path, ...]  # files and folders that exist when it is finished
    needs: tuple[str, ...] = ()  # names of stages
    files: tuple[tuple[Path, str], ...] = ()  # texts to write before the commands
    started: Path | None = None  # if this file exists, the stage was started before and is resumed
    iterations: int = 0  # of training
    agent: str = ""
    minutes: float = 0.0  # estimated
    megabytes: float = 0.0  # estimated
    kept: bool = True  # whether a record is needed: not for data, which its directory itself describes


@dataclass(frozen=True, slots=True)
class Finished:
    """The record of a finished stage."""

    commands: tuple[tuple[str, ...], ...]
    minutes: float
    iterations: int
    agent: str
    versions: dict[str, str]
    adopted: str = ""  # the folder of a run that was there before; empty if the stage ran


def run_stage(folder: Path, stage: Stage) -> None:
    """Run a stage, unless it is finished; wait first if another process runs it."""
    with exclusive_lock(folder / "locks" / stage.name, wait=True):
        if is_finished(folder, stage):
            return
        failure_file(folder, stage).unlink(missing_ok=True)
        for file, text in stage.files:
            write_text(file, text)
        begin = time.monotonic()
        try:
            for command in stage.commands:
                run_command(_resuming(command, stage), log_file(folder, stage))
            for product in stage.products:
                if not product.exists():
                    raise StageError(f"{stage.name}: its commands succeeded, but {product} is missing.")
        except StageError as error:
            record_failure(folder, stage, str(error))
            raise
        record_finished(folder, stage, minutes=(time.monotonic() - begin) / 60)


def run_command(arguments: Sequence[str], log: Path) -> None:
    """Run a command of babywalk; what it prints is appended to the log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as file:
        file.write(f"$ {shown(arguments)}\n")
        file.flush()
        code = subprocess.run([*PROGRAM, *arguments], stdout=file, stderr=file, check=False).returncode
    if code:
        lines = log.read_text(errors="replace").splitlines()
        raise StageError(f"{shown(arguments)}: exit code {code}: {lines[-1][:500]}")


def shown(arguments: Sequence[str]) -> str:
    """A command as one types it."""
    return subprocess.list2cmdline(["babywalk", *arguments])


def is_finished(folder: Path, stage: Stage) -> bool:
    """Whether the products of a stage are there, and its record."""
    complete = all(product.exists() for product in stage.products)
    return complete and (not stage.kept or finished(folder, stage) is not None)


def finished(folder: Path, stage: Stage) -> Finished | None:
    """The record of a stage; None if it has none, or a damaged one."""
    file = record_file(folder, stage)
    try:
        fields = check_signed(file, read_json(file), "")
        return from_table(Finished, fields, where=str(file))
    except (BabyWalkError, OSError, AttributeError, TypeError):
        return None


def record_finished(folder: Path, stage: Stage, *, minutes: float, adopted: str = "") -> None:
    """Write the record of a stage."""
    done = Finished(stage.commands, minutes, stage.iterations, stage.agent, versions(), adopted)
    write_json(record_file(folder, stage), signed(asdict(done)))


def record_failure(folder: Path, stage: Stage, reason: str) -> None:
    """Write why a stage failed."""
    write_text(failure_file(folder, stage), f"{reason}\nLog: {log_file(folder, stage)}\n")


def state(folder: Path, stage: Stage) -> str:
    """Whether a stage is "finished", "running", "failed" or "to do"."""
    if is_finished(folder, stage):
        return "finished"
    lock = folder / "locks" / stage.name
    if CAN_LOCK and lock.is_dir():
        try:
            with exclusive_lock(lock):
                pass
        except ConfigError:
            return "running"
    return "failed" if failure_file(folder, stage).exists() else "to do"


def record_file(folder: Path, stage: Stage) -> Path:
    """Where the record of a finished stage is."""
    return folder / "stages" / f"{stage.name}.json"


def failure_file(folder: Path, stage: Stage) -> Path:
    """Where it is written why a stage failed."""
    return folder / "failed" / f"{stage.name}.txt"


def log_file(folder: Path, stage: Stage) -> Path:
    """Where the output of a stage's commands is."""
    return folder / "logs" / f"{stage.name}.log"


def _resuming(command: tuple[str, ...], stage: Stage) -> tuple[str, ...]:
    return (*command, "--resume") if stage.started is not None and stage.started.is_file() else command
