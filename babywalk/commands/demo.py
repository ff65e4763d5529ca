"""The demonstration: train and compare two agents on built-in data, in minutes.

It builds the Dollhouse, segments and aligns its instructions, trains BABYWALK (imitation and lectures) and
SEQ2SEQ on R4R at the same time, evaluates both on R2R, R4R, R6R and R8R in unseen houses, and shows
trajectories in pictures and on a page. Steps that are already done are skipped.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from babywalk.assets.data_directory import BABYSTEPS
from babywalk.assets.dollhouse import DollhouseConfig
from babywalk.commands.align import align_data
from babywalk.commands.data import data_statistics, make_dollhouse
from babywalk.commands.draw import draw
from babywalk.commands.evaluate import evaluate_agent, result_file
from babywalk.commands.segment import segment_data
from babywalk.commands.train import RESULT
from babywalk.commands.view import write_page
from babywalk.common.errors import ConfigError
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.joining import TASKS
from babywalk.evaluation.report import Report
from babywalk.evaluation.tables import data_table, score_table
from babywalk.instructions.store import is_segmented
from babywalk.training.log import read_log

_AGENTS = ("babywalk", "seq2seq")
_SAMPLE = "val_unseen:500"
_SHOWN = ("r2r", "r4r")  # on the page
_POLL_SECONDS = 2.0
_REPORT_SECONDS = 60.0


def demo(
    folder: Path, *, seed: int = 0, world: DollhouseConfig | None = None, preset: str = "demo"
) -> Iterator[str]:
    """Run the demonstration; yields lines of text to print."""
    data = folder / "data"
    yield from _prepare(data, world or DollhouseConfig())
    yield data_table(data_statistics(data, figure=folder / "lengths.png"))
    runs = {name: folder / f"{name}-{seed}" for name in _AGENTS}
    yield from _train(data, runs, seed, preset)
    yield f"\nEvaluating on {_SAMPLE.partition(':')[2]} unseen instructions of each task ..."
    reports = {name: _evaluate(str(run), data, run / "walks") for name, run in runs.items()}
    reports["random"] = _evaluate("random", data, folder / "random")
    yield score_table(
        {f"{name} {report.task}": report.measures for name, found in reports.items() for report in found}
    )
    yield from _comparison(reports)
    pictures = list(_draw(data, runs, folder / "pictures"))
    page = folder / "walks.html"
    write_page([(name, str(run)) for name, run in runs.items()], data, _SHOWN, ["val_unseen"], page)
    yield f"""
Files:
  {data}      the data directory (babywalk data verify {data})
  {runs["babywalk"]}, {runs["seq2seq"]}   runs: model.safetensors, metrics.csv, tensorboard/
  {pictures[0]} ... four trajectories of each agent beside the expert's
  {folder / "lengths.png"}   lengths of instructions and paths
  {page}   episodes of R2R and R4R with both agents in a page for the browser; it needs no server
Try next:
  babywalk view {runs["babywalk"]} {runs["seq2seq"]} --data {data}   # the page, live: type an instruction
  babywalk follow {runs["babywalk"]} --house dollhouse_025 --viewpoint d025-v017 "Exit the living room."
  babywalk evaluate {runs["babywalk"]} --data {data} --tasks r8r --split val_unseen --by-length
  babywalk train babywalk --data {data} --run runs/mine --set policy.memory=lstm
  babywalk draw house.svg --data {data} --house dollhouse_001"""


def _prepare(data: Path, world: DollhouseConfig) -> Iterator[str]:
    """Make the data, the Baby-Steps and the alignment, as far as they do not exist."""
    if not data.exists():
        yield f"Building the Dollhouse: {world.houses} houses with views, walks and instructions ..."
        make_dollhouse(data, world)
    dataset = Dataset(data)
    if not all(is_segmented(dataset, split) for split in dataset.splits):
        yield "Segmenting instructions into Baby-Steps ..."
        segment_data(data, None)
    # For training, and for pictures and the evaluation of single steps.
    due = [("r4r", "train"), *((task, "val_unseen") for task in TASKS)]
    due = [(task, split) for task, split in due if not (data / BABYSTEPS / task / split).is_dir()]
    if due:
        yield "Aligning Baby-Steps with paths ..."
    for task, split in due:
        align_data(data, [task], [split])


def _train(data: Path, runs: dict[str, Path], seed: int, preset: str) -> Iterator[str]:
    """Train both agents at the same time, in a process with one thread each."""
    due = {name: run for name, run in runs.items() if not _finished(run)}
    if not due:
        return
    yield f"\nTraining {' and '.join(due)} on R4R (if interrupted, call again to resume) ..."
    begin = reported = time.monotonic()
    processes = {name: _start(name, data, run, seed, preset) for name, run in due.items()}
    try:
        while any(process.poll() is None for process in processes.values()):
            time.sleep(_POLL_SECONDS)
            if time.monotonic() - reported > _REPORT_SECONDS:
                reported = time.monotonic()
                states = ", ".join(f"{name} {_progress(run)}" for name, run in due.items())
                yield f"  {(reported - begin) / 60:.0f} min: {states}"
    finally:
        for process in processes.values():
            process.terminate()
    for name, process in processes.items():
        if process.wait() != 0:
            raise ConfigError(f"Training {name} failed. See {due[name].with_suffix('.log')}.")


def _start(name: str, data: Path, run: Path, seed: int, preset: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "babywalk", "train", name, "--data", str(data), "--run", str(run)]
    command += ["--preset", preset, "--seed", str(seed), "--set", "threads=1", "features=dollhouse"]
    command += ["--resume"] if (run / "config.json").exists() else []
    run.parent.mkdir(parents=True, exist_ok=True)
    with run.with_suffix(".log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def _finished(run: Path) -> bool:
    return (run / RESULT).exists()


def _progress(run: Path) -> str:
    """The stage and iteration that a run logged last."""
    file = run / "metrics.csv"
    logged = list(read_log(file)) if file.exists() else []
    return f"{logged[-1].stage} {logged[-1].iteration}" if logged else "starting"


def _evaluate(agent: str, data: Path, walks: Path) -> list[Report]:
    return evaluate_agent(agent, data, list(TASKS), _SAMPLE, trajectories=walks)


def _comparison(reports: dict[str, list[Report]]) -> Iterator[str]:
    """SDTW of both agents on each task: does training on R4R transfer to longer instructions?"""
    yield ""
    for number, task in enumerate(TASKS):
        babywalk, seq2seq = (100 * reports[name][number].measures["SDTW"].mean for name in _AGENTS)
        sign = "ahead of" if babywalk > seq2seq else "behind"
        yield f"{task.upper()}: BABYWALK {babywalk:.1f} is {sign} SEQ2SEQ {seq2seq:.1f} in SDTW"


def _draw(data: Path, runs: dict[str, Path], folder: Path) -> Iterator[Path]:
    """Trajectories of both agents beside the expert's, one episode per task."""
    for task in TASKS:
        sample = Dataset(data).task(task, _SAMPLE)
        ids = sample.ids(np.arange(len(sample)))
        chosen = ids[len(ids) // 2]
        file = folder / f"{task}_{chosen}.png"
        results = [(name, result_file(run / "walks", task, _SAMPLE)) for name, run in runs.items()]
        draw(data, file, task=task, split=_SAMPLE, episode=chosen, results=results)
        yield file
