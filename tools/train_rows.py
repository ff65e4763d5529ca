"""Train and evaluate every row of a table of agents: one recipe per row, one run per seed.

    python tools/train_rows.py recipes/dollhouse --data demo/data --runs runs/rows --seeds 0,1,2

A recipe whose `init_from` names another row starts from the run of that row with the same seed. What is
finished is skipped, and what was interrupted is resumed, so that the same command can be given again.
`--collect FILE` writes the measures of all rows and seeds as the data of a table (see tools/tables.py).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

from babywalk.agents.recipe import read_recipe
from babywalk.commands.train import RESULT
from babywalk.common.files import exclusive_lock, read_json, write_json
from babywalk.episodes.joining import DRAW

TASKS = "r2r,r4r,r6r,r8r"
MEASURES = ("SR", "CLS", "SDTW")
EVALUATION = "evaluation.json"  # in the run directory
ORDER = (
    "seq2seq",
    "speaker-follower",
    "rcm-goal",
    "rcm-fidelity",
    "regretful",
    "fast",
    "babywalk",
    "babywalk-plus",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recipes", type=Path, help="folder of recipes")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=Path, required=True, help="folder of runs, as NAME-SEED")
    parser.add_argument("--seeds", default="0", help="such as 0,1,2")
    parser.add_argument("--rows", default=",".join(ORDER), help="names of recipes")
    parser.add_argument("--split", default="val_unseen")
    parser.add_argument("--collect", type=Path, help="write the measures to this file, and train nothing")
    parser.add_argument("--commands", default="", help="with --collect: the link to the commands")
    options = parser.parse_args()
    rows = [(name, int(seed)) for seed in options.seeds.split(",") for name in options.rows.split(",")]
    if options.collect:
        write_json(options.collect, collected(options.runs, rows, options.split, options.commands))
        return
    for name, seed in rows:
        run = options.runs / f"{name}-{seed}"
        run.parent.mkdir(parents=True, exist_ok=True)
        with exclusive_lock(run.with_suffix(".lock.d")):
            train(options.recipes / f"{name}.toml", options.data, run, seed)
            evaluate(run, options.data, options.split)


def train(recipe: Path, data: Path, run: Path, seed: int) -> None:
    """Train a row, unless that is done."""
    if (run / RESULT).exists():
        return
    command = ["train", "--config", str(recipe), "--data", str(data), "--run", str(run)]
    if (run / "config.json").exists():
        command.append("--resume")
    else:
        command += ["--seed", str(seed)]
        if base := read_recipe(recipe).settings.get("init_from"):
            command += ["--set", f"init_from={run.parent / Path(base).name}-{seed}"]
    babywalk(command)


def evaluate(run: Path, data: Path, split: str) -> None:
    """Evaluate a row on all tasks, unless that is done."""
    if (run / EVALUATION).exists():
        return
    command = ["evaluate", str(run), "--data", str(data), "--tasks", TASKS, "--split", split, "--json"]
    write_json(run / EVALUATION, json.loads(babywalk([*command, "--threads", "1"])))


def babywalk(arguments: list[str]) -> str:
    """The output of a command; errors are shown as they come."""
    print("babywalk", *arguments, flush=True)
    command = [sys.executable, "-m", "babywalk", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def collected(runs: Path, rows: list[tuple[str, int]], split: str, commands: str) -> dict[str, Any]:
    """SR, CLS and SDTW of every row and seed that was evaluated, in percent, with the facts of the table."""
    found, seeds = [], set()
    for name, seed in rows:
        file = runs / f"{name}-{seed}" / EVALUATION
        if not file.exists():
            continue
        seeds.add(seed)
        (reports,) = read_json(file).values()
        for report in reports:
            measures = [round(100 * report["measures"][key]["mean"], 2) for key in MEASURES]
            found.append([name, seed, report["task"].upper(), *measures])
    return {
        "measured": f"{date.today():%B %Y}",
        "draw": DRAW,
        "seeds": ", ".join(map(str, sorted(seeds))),
        "split": split,
        "commands": commands,
        "columns": ["agent", "seed", "task", *MEASURES],
        "rows": found,
    }


if __name__ == "__main__":
    main()
