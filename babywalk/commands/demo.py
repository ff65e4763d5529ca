"""The demonstration: from nothing to trained agents on long tasks, on built-in data, in minutes.

The Dollhouse, Baby-Steps, alignment; BABYWALK (imitation and lectures) and SEQ2SEQ trained on 4-room tasks
side by side; both measured on 2, 4, 6 and 8 rooms of houses they never saw; pictures. What is there is kept.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from babywalk.assets.dollhouse import DollhouseConfig
from babywalk.assets.layout import BABYSTEPS
from babywalk.commands.align import align_data
from babywalk.commands.data import data_statistics, make_dollhouse, segment_data
from babywalk.commands.draw import draw
from babywalk.commands.evaluate import evaluate_agent, result_file
from babywalk.commands.train import RESULT
from babywalk.common.errors import ConfigError
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.joining import TASKS
from babywalk.evaluation.data_table import data_table
from babywalk.evaluation.reports import Report
from babywalk.evaluation.score_table import score_table
from babywalk.instructions.store import is_segmented

_AGENTS = ("babywalk", "seq2seq")
_SAMPLE = "val_unseen:500"
_PICTURES = 4
_LOOK_EVERY = 2.0  # seconds
_TELL_EVERY = 60.0


def demo(
    folder: Path, *, seed: int = 0, world: DollhouseConfig | None = None, preset: str = "demo"
) -> Iterator[str]:
    """Do everything, and say what was done in lines for people."""
    data = folder / "data"
    yield from _prepare(data, world or DollhouseConfig())
    yield data_table(data_statistics(data, figure=folder / "lengths.png"))
    runs = {name: folder / f"{name}-{seed}" for name in _AGENTS}
    yield from _train(data, runs, seed, preset)
    yield f"\nMeasuring on {_SAMPLE.partition(':')[2]} unseen instructions of each task ..."
    reports = {name: _measure(str(run), data, run / "walks") for name, run in runs.items()}
    reports["random"] = _measure("random", data, folder / "random")
    yield score_table(
        {f"{name} {report.task}": report.measures for name, found in reports.items() for report in found}
    )
    yield from _verdict(reports)
    pictures = list(_draw(data, runs, folder / "pictures"))
    yield f"""
What was made:
  {data}      the data directory (babywalk data verify {data})
  {runs["babywalk"]}, {runs["seq2seq"]}   runs: model.safetensors, metrics.csv, tensorboard/
  {pictures[0]} ... four walks of each agent beside the expert's
  {folder / "lengths.png"}   how long instructions and paths are
Try next:
  babywalk follow {runs["babywalk"]} --house dollhouse_025 --viewpoint d025-v017 "Exit the living room."
  babywalk evaluate {runs["babywalk"]} --data {data} --tasks r8r --split val_unseen --by-length
  babywalk train babywalk --data {data} --run runs/mine --set policy.memory=lstm
  babywalk draw house.svg --data {data} --house dollhouse_001"""


def _prepare(data: Path, world: DollhouseConfig) -> Iterator[str]:
    """The data, the Baby-Steps and the alignment, each if it is not there."""
    if not data.exists():
        yield f"Building the Dollhouse: {world.houses} houses with views, walks and instructions ..."
        make_dollhouse(data, world)
    dataset = Dataset(data)
    if not all(is_segmented(dataset, split) for split in dataset.splits):
        yield "Cutting instructions into Baby-Steps ..."
        segment_data(data, None)
    # What agents learn from, and what pictures and questions about single steps show.
    due = [("r4r", "train"), *((task, "val_unseen") for task in TASKS)]
    due = [(task, split) for task, split in due if not (data / BABYSTEPS / task / split).is_dir()]
    if due:
        yield "Aligning Baby-Steps with paths ..."
    for task, split in due:
        align_data(data, [task], [split])


def _train(data: Path, runs: dict[str, Path], seed: int, preset: str) -> Iterator[str]:
    """Train both agents at once, a process and a thread each."""
    due = {name: run for name, run in runs.items() if not _finished(run)}
    if not due:
        return
    yield f"\nTraining {' and '.join(due)} on 4-room tasks (stopped and called again, it goes on) ..."
    begin = told = time.monotonic()
    processes = {name: _start(name, data, run, seed, preset) for name, run in due.items()}
    try:
        while any(process.poll() is None for process in processes.values()):
            time.sleep(_LOOK_EVERY)
            if time.monotonic() - told > _TELL_EVERY:
                told = time.monotonic()
                states = ", ".join(f"{name} {_where(run)}" for name, run in due.items())
                yield f"  {(told - begin) / 60:.0f} min: {states}"
    finally:
        for process in processes.values():
            process.terminate()
    for name, process in processes.items():
        if process.wait() != 0:
            raise ConfigError(f"Training {name} failed; {due[name].with_suffix('.log')} tells why.")


def _start(name: str, data: Path, run: Path, seed: int, preset: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "babywalk", "train", name, "--data", str(data), "--run", str(run)]
    command += ["--preset", preset, "--seed", str(seed), "--set", "threads=1", "features=dollhouse"]
    command += ["--resume"] if (run / "config.json").exists() else []
    run.parent.mkdir(parents=True, exist_ok=True)
    with run.with_suffix(".log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def _finished(run: Path) -> bool:
    return (run / RESULT).exists()


def _where(run: Path) -> str:
    """The stage and iteration that a run last wrote down."""
    file = run / "metrics.csv"
    last = file.read_text().splitlines()[-1].split(",") if file.exists() else []
    return f"{last[1]} {last[2]}" if len(last) > 2 and last[0] != "total" else "starting"


def _measure(agent: str, data: Path, walks: Path) -> list[Report]:
    return evaluate_agent(agent, data, list(TASKS), _SAMPLE, trajectories=walks)


def _verdict(reports: dict[str, list[Report]]) -> Iterator[str]:
    """The paper's question: who was trained on four rooms and follows six and eight?"""
    yield ""
    for number, task in enumerate(TASKS):
        ours, theirs = (100 * reports[name][number].measures["SDTW"].mean for name in _AGENTS)
        sign = "ahead of" if ours > theirs else "behind"
        yield f"{task.upper()}: BABYWALK {ours:.1f} is {sign} SEQ2SEQ {theirs:.1f} in SDTW"


def _draw(data: Path, runs: dict[str, Path], folder: Path) -> Iterator[Path]:
    """Walks of both agents beside the expert's, on tasks of growing length."""
    for task in TASKS:
        sample = Dataset(data).task(task, _SAMPLE)
        ids = sample.ids(np.arange(len(sample)))
        chosen = ids[len(ids) // 2]
        file = folder / f"{task}_{chosen}.png"
        results = [(name, result_file(run / "walks", task, _SAMPLE)) for name, run in runs.items()]
        draw(data, file, task=task, split=_SAMPLE, episode=chosen, results=results)
        yield file
