"""How much slower commands are beside one busy process per core.

python benchmarks/busy.py --data FOLDER, a segmented data directory; without it, a Dollhouse is built. Each
command runs alone, beside processes that were busy before it started, and beside processes that start one
second after it, when it has chosen its number of threads. The goal is a ratio of at most 3.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from babywalk.assets.data_directory import ALIGNER, BABYSTEPS
from babywalk.assets.dollhouse import DollhouseConfig
from babywalk.commands.data import make_dollhouse
from babywalk.commands.segment import segment_data

LATE = 1.0  # seconds
LIMIT = 600  # seconds after which a busy process ends by itself
SPIN = f"import time\nend = time.monotonic() + {LIMIT}\nwhile time.monotonic() < end: pass"


def main() -> None:
    options = parse()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as temporary:
        data = options.data or build(Path(temporary) / "data", options.houses)
        commands = {
            "data align": ["data", "align", "r4r", "--data", "{data}"],
            "evaluate": [
                "evaluate",
                "dollhouse",
                "--data",
                "{data}",
                "--tasks",
                "r8r",
                "--split",
                options.split,
            ],
        }
        print(
            f"{cores} cores, beside {cores} busy processes; seconds, the best of {options.repeat}", flush=True
        )
        print(f"{'':<12}{'alone':>8}{'busy':>8}{'ratio':>7}{'busy later':>12}{'ratio':>7}", flush=True)
        for name, arguments in commands.items():
            alone, busy, later = (
                min(measure(arguments, data, Path(temporary), count, delay) for _ in range(options.repeat))
                for count, delay in ((0, 0.0), (cores, 0.0), (cores, LATE))
            )
            print(
                f"{name:<12}{alone:8.1f}{busy:8.1f}{busy / alone:7.1f}{later:12.1f}{later / alone:7.1f}",
                flush=True,
            )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, metavar="DIR", help="a segmented data directory")
    parser.add_argument("--houses", type=int, default=30, metavar="N", help="of the Dollhouse (default: 30)")
    parser.add_argument(
        "--split", default="val_unseen:10000", help="of R8R to evaluate on (default: val_unseen:10000)"
    )
    parser.add_argument(
        "--repeat", type=int, default=1, metavar="N", help="runs of each command (default: 1)"
    )
    return parser.parse_args()


def build(folder: Path, houses: int) -> Path:
    make_dollhouse(folder, DollhouseConfig(houses=houses))
    segment_data(folder, None)
    return folder


def measure(arguments: list[str], data: Path, temporary: Path, busy: int, delay: float) -> float:
    """Seconds that a command takes, on a copy of the data that holds nothing learned before."""
    copy = temporary / "copy"
    shutil.copytree(data, copy, ignore=shutil.ignore_patterns("raw", ALIGNER, BABYSTEPS))
    command = [argument.format(data=copy) for argument in arguments]
    try:
        with busy_processes(busy if not delay else 0):
            begin = time.monotonic()
            process = subprocess.Popen(
                [sys.executable, "-m", "babywalk", *command],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(delay)
            with busy_processes(busy if delay else 0):
                code = process.wait()
            elapsed = time.monotonic() - begin
    finally:
        shutil.rmtree(copy)
    if code:
        raise SystemExit(f"babywalk {' '.join(command)} failed with exit code {code}")
    return elapsed


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    processes = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
    try:
        if count:
            time.sleep(0.5)  # until they have started
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
