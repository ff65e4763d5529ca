"""Commands that run agents on tasks, score trajectories, and draw them."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from babywalk.assets.pretrained import built_in_models
from babywalk.cli.options import (
    add_data,
    add_decode,
    add_device,
    add_json,
    add_reporting,
    add_seed,
    add_split,
    add_task,
    add_threads,
    at_least_one,
    comma_separated,
    command,
    named_file,
    print_json,
    print_line,
    shell_quoted,
)
from babywalk.common.errors import ConfigError


def add_commands(commands: Any) -> None:
    """Add the commands to the parser."""
    _add_demo(commands)
    _add_evaluate(commands)
    _add_rerank(commands)
    _add_score(commands)
    _add_table(commands)
    _add_diagnose(commands)
    _add_submit(commands)
    _add_draw(commands)


def _add_demo(commands: Any) -> None:
    demo = command(
        commands,
        "demo",
        "build the Dollhouse, train two agents in it, evaluate and draw them",
        "babywalk demo demo",
    )
    demo.add_argument(
        "folder", type=Path, metavar="DIR", help="folder for all output; finished parts are reused"
    )
    add_seed(demo)
    add_threads(demo)
    demo.set_defaults(run_command=_demo)


def _demo(options: argparse.Namespace) -> None:
    from babywalk.commands.demo import demo

    for line in demo(options.folder, seed=options.seed):
        print_line(line)


def _add_evaluate(commands: Any) -> None:
    evaluate = command(
        commands,
        "evaluate",
        "run an agent on tasks and report its measures",
        "babywalk evaluate oracle --data data --tasks r2r --split val_unseen",
        "babywalk evaluate random --data data --tasks r2r,r4r --split val_seen --seeds 10",
        "babywalk evaluate runs/babywalk --data data --tasks r4r --split val_unseen:500 --baby-steps",
        "babywalk evaluate runs/babywalk --data data --tasks r4r --split val_unseen --trajectories walks",
        "babywalk evaluate runs/babywalk --data data --tasks r2r,r4r --split val_unseen --by-length words",
        "babywalk evaluate runs/seq2seq --data data --split val_unseen --decode frontier:candidates=20",
    )
    evaluate.add_argument(
        "agent",
        nargs="?",
        metavar="AGENT",
        help="stop, random, oracle, a run directory, a model file, or a built-in model: "
        + ", ".join(built_in_models()),
    )
    evaluate.add_argument("--agent", dest="agent_option", metavar="AGENT", help="the same, as an option")
    add_data(evaluate)
    evaluate.add_argument("--tasks", default="r2r", metavar="TASKS", help="such as r2r,r4r (default: r2r)")
    add_split(evaluate)
    evaluate.add_argument(
        "--seeds",
        type=at_least_one,
        default=1,
        metavar="N",
        help="run N times, with agent seeds S, S+1, ... (default: 1)",
    )
    evaluate.add_argument(
        "--trajectories",
        type=Path,
        metavar="DIR",
        help="write the trajectories, as r4r_val_unseen.json; those of a sample, as r4r_val_unseen_40.json",
    )
    evaluate.add_argument(
        "--baby-steps",
        action="store_true",
        help="run each aligned Baby-Step alone, from the expert's position and heading at its start",
    )
    evaluate.add_argument(
        "--step-size",
        type=int,
        metavar="N",
        help="segment instructions into steps of about N characters, 0 for the smallest "
        "(default: the step size of the model)",
    )
    add_decode(evaluate)
    add_device(evaluate)
    add_threads(evaluate)
    add_reporting(evaluate)
    evaluate.set_defaults(run_command=_evaluate)


def _evaluate(options: argparse.Namespace) -> None:
    from babywalk.commands.evaluate import evaluate_agent, evaluate_single_steps, result_file

    if options.baby_steps and options.trajectories:
        raise ConfigError(
            "--trajectories saves whole instructions, --baby-steps walks single steps. Give one of them."
        )
    if options.baby_steps and options.step_size is not None:
        raise ConfigError(
            "--baby-steps uses the stored steps, --step-size would change them. Give one of them."
        )
    if options.seeds > 1 and options.trajectories:
        raise ConfigError("--trajectories saves one seed. Leave out --seeds, or give --seed.")
    agent, tasks = _agent(options), comma_separated(options.tasks)
    run = (
        partial(evaluate_single_steps, agent, options.data, tasks, options.split)
        if options.baby_steps
        else partial(
            evaluate_agent,
            agent,
            options.data,
            tasks,
            options.split,
            trajectories=options.trajectories,
            step_size=options.step_size,
        )
    )
    reports = {
        # One sample of instructions for all: only the seed of the agent changes.
        f"{agent} {seed}" if options.seeds > 1 else agent: run(
            seed=options.seed,
            agent_seed=seed,
            per_path=options.per_path,
            length=options.by_length,
            device=options.device,
            decode=options.decode,
            spl_start_is_goal=options.spl_start_is_goal,
        )
        for seed in range(options.seed, options.seed + options.seeds)
    }
    if not any(reports.values()) and not options.json:
        file = result_file(options.trajectories, tasks[0], options.split)
        print_line(
            f"{options.split} has no goals to score against; the trajectories are in {options.trajectories}."
        )
        print_line(
            f"Next: babywalk submit {shell_quoted(file)} --data {shell_quoted(options.data)} submission.json"
        )
        return
    _print_reports(options, reports)
    if options.trajectories and not options.json:
        print_line(
            f"The trajectories are in {options.trajectories}, for 'babywalk diagnose' and 'babywalk draw'."
        )


def _agent(options: argparse.Namespace) -> str:
    given = [name for name in (options.agent, options.agent_option) if name is not None]
    if not given:
        raise ConfigError("No agent is given: babywalk evaluate AGENT ...")
    if len(given) > 1:
        raise ConfigError(f"The agent is given twice: {given[0]!r}, and --agent {given[1]!r}. Give it once.")
    return str(given[0])


def _add_rerank(commands: Any) -> None:
    rerank = command(
        commands,
        "rerank",
        "fit the re-ranker of frontier search for a trained agent",
        "babywalk rerank runs/fast --data data --task r2r --split val_seen",
        "babywalk rerank runs/seq2seq --data data --split train:2000 --decode frontier:candidates=40",
    )
    rerank.add_argument("model", type=Path, metavar="RUN", help="run directory or model file")
    add_data(rerank)
    add_task(rerank)
    add_split(rerank, default="val_seen")
    rerank.add_argument(
        "--decode",
        default="frontier",
        metavar="DECODER",
        help="the frontier search that finds the candidates (default: frontier)",
    )
    add_seed(rerank)
    add_device(rerank)
    add_threads(rerank)
    add_json(rerank)
    rerank.set_defaults(run_command=_rerank)


def _rerank(options: argparse.Namespace) -> None:
    from babywalk.commands.rerank import fit_reranker

    done = fit_reranker(
        options.model,
        options.data,
        options.task,
        options.split,
        decode=options.decode,
        seed=options.seed,
        device=options.device,
    )
    if options.json:
        print_json(asdict(done))
        return
    for name, weight in done.weights.items():
        print_line(f"  {name:<20} {weight:7.3f}")
    print_line(
        f"SR on {done.instructions:,} instructions with {done.candidates:.1f} candidates each: "
        f"{done.by_log_probability:.1%} by log-probability, {done.by_reranker:.1%} re-ranked, "
        f"{done.best_possible:.1%} with the best choice."
    )
    print_line(f"Re-ranker: {done.file}, for --decode {done.decoding}")


def _add_score(commands: Any) -> None:
    score = command(
        commands,
        "score",
        "check and score the result file of any agent",
        "babywalk score results.json --data data --task r2r --split val_unseen",
        "babywalk score results.json --data data --task r4r --split val_unseen --by-length words",
    )
    score.add_argument("results", type=Path, metavar="RESULTS.json", help="in the leaderboard's format")
    add_data(score)
    add_task(score)
    add_split(score)
    score.add_argument(
        "--per-instruction", type=Path, metavar="FILE.csv", help="write the measures of every instruction"
    )
    add_reporting(score)
    score.set_defaults(run_command=_score)


def _score(options: argparse.Namespace) -> None:
    from babywalk.commands.evaluate import score_results

    report = score_results(
        options.results,
        options.data,
        options.task,
        options.split,
        seed=options.seed,
        per_path=options.per_path,
        length=options.by_length,
        per_instruction=options.per_instruction,
        spl_start_is_goal=options.spl_start_is_goal,
    )
    _print_reports(options, {options.results.stem: [report]})
    if options.per_instruction and not options.json:
        print_line(f"The measures of every instruction are in {options.per_instruction}")


def _print_reports(options: argparse.Namespace, runs: dict[str, list[Any]]) -> None:
    """Print the reports of runs over the same tasks, and the mean of several runs."""
    from babywalk.evaluation.report import KNOWN_MAP
    from babywalk.evaluation.tables import length_table, mean_over_runs, score_table

    if options.json:
        print_json({run: [asdict(report) for report in reports] for run, reports in runs.items()})
        return
    print_line(
        score_table(
            {f"{run} {report.task}": report.measures for run, reports in runs.items() for report in reports}
        )
    )
    first = next(iter(runs.values()))
    if len(runs) > 1:
        means = {
            report.task: mean_over_runs([reports[number].measures for reports in runs.values()])
            for number, report in enumerate(first)
        }
        print_line(f"\nMean over {len(runs)} seeds, and the range of the seeds:")
        print_line(score_table(means, interval="range"))
    for run, reports in runs.items():
        for report in reports:
            if report.by_length:
                print_line(f"\n{run} {report.task} by length")
                print_line(length_table(report.by_length, options.by_length))
    counts = ", ".join(f"{report.episodes:,} of {report.task} {report.split}" for report in first)
    unit = first[0].unit
    print_line(f"\n{unit[0].upper()}{unit[1:]}: {counts}. PL and NE in metres, the rest in percent.")
    if options.spl_start_is_goal == "zero":
        print_line("SPL is 0 where a reference path ends at its start.")
    if first[0].decoding not in ("", "greedy"):
        print_line(f"Decoded by {first[0].decoding}.")
    if first[0].known_map:
        print_line(KNOWN_MAP)


def _add_table(commands: Any) -> None:
    table = command(
        commands,
        "table",
        "compare results in one table, with --paper beside the paper's",
        "babywalk evaluate runs/babywalk --data data --split val_unseen --json > babywalk.json",
        "babywalk table babywalk.json seq2seq.json --paper r4r",
        "babywalk table a.json b.json --name BABYWALK SEQ2SEQ --measures SR,SPL,SDTW --intervals --markdown",
    )
    table.add_argument(
        "results",
        type=Path,
        nargs="+",
        metavar="RESULTS.json",
        help="output of 'babywalk evaluate --json' or 'babywalk score --json'",
    )
    table.add_argument(
        "--name",
        nargs="+",
        action="extend",
        default=[],
        metavar="LABEL",
        help="label of the agent of each file, in order",
    )
    table.add_argument("--measures", metavar="NAMES", help="such as SR,SPL (default: SR,CLS,nDTW,SDTW)")
    table.add_argument(
        "--paper", metavar="TASK", help="add the paper's agents that were trained on TASK, as in r4r"
    )
    table.add_argument("--intervals", action="store_true", help="add the 95 %% intervals of SDTW")
    table.add_argument("--markdown", action="store_true", help="print Markdown")
    table.set_defaults(run_command=_table)


def _table(options: argparse.Namespace) -> None:
    from babywalk.commands.evaluate import compare_results
    from babywalk.evaluation.comparison import Layout

    chosen = {"measures": tuple(comma_separated(options.measures))} if options.measures else {}
    layout = Layout(**chosen, paper=options.paper, intervals=options.intervals, markdown=options.markdown)
    print_line(compare_results(options.results, layout, options.name))


def _add_diagnose(commands: Any) -> None:
    diagnose = command(
        commands,
        "diagnose",
        "report where an agent fails: lengths, stopping, steps, stairs, words, houses",
        "babywalk diagnose runs/babywalk --data data --task r4r --split val_unseen:500",
        "babywalk diagnose walks/r4r_val_seen.json --data data --task r4r --split val_seen --figure why.png",
    )
    diagnose.add_argument(
        "walks",
        metavar="RESULTS.json|AGENT",
        help="a file that 'evaluate --trajectories' wrote, or an agent to run first",
    )
    add_data(diagnose)
    add_task(diagnose)
    add_split(diagnose)
    diagnose.add_argument("--figure", type=Path, metavar="FILE", help="draw it too: png, svg or pdf")
    add_seed(diagnose)
    add_decode(diagnose)
    add_device(diagnose)
    add_threads(diagnose)
    add_json(diagnose)
    diagnose.set_defaults(run_command=_diagnose)


def _diagnose(options: argparse.Namespace) -> None:
    from babywalk.commands.diagnose import diagnose_walks
    from babywalk.evaluation.diagnosis.report import diagnosis_text

    found = diagnose_walks(
        options.walks,
        options.data,
        options.task,
        options.split,
        seed=options.seed,
        figure=options.figure,
        device=options.device,
        decode=options.decode,
    )
    if options.json:
        print_json(asdict(found))
        return
    print_line(diagnosis_text(found))
    if options.figure:
        print_line(f"Figure: {options.figure}")


def _add_submit(commands: Any) -> None:
    submit = command(
        commands,
        "submit",
        "write the leaderboard file of a test split from trajectories",
        "babywalk submit results.json --data data --split test submission.json",
    )
    submit.add_argument(
        "results", type=Path, metavar="RESULTS.json", help="trajectories, with or without headings"
    )
    submit.add_argument("file", type=Path, metavar="FILE.json", help="file to write")
    add_data(submit)
    add_split(submit, default="test")
    submit.set_defaults(run_command=_submit)


def _submit(options: argparse.Namespace) -> None:
    from babywalk.commands.evaluate import submit

    count = submit(options.results, options.data, options.split, options.file)
    print_line(f"{count:,} trajectories in {options.file}")


def _add_draw(commands: Any) -> None:
    draw = command(
        commands,
        "draw",
        "draw a house from above, with trajectories in it",
        "babywalk draw house.png --data data --house dollhouse_001",
        "babywalk draw walk.svg --data data --split val_seen --episode 1_0 --results agent=results.json",
    )
    draw.add_argument("file", type=Path, metavar="FILE", help="picture to write: png, svg or pdf")
    add_data(draw)
    draw.add_argument("--house", metavar="SCAN", help="name of a house")
    draw.add_argument("--episode", metavar="ID", help="an instruction, as in 4332_0, with its expert path")
    draw.add_argument("--task", default="r2r", metavar="TASK", help="of the episode (default: r2r)")
    add_split(draw, default="val_unseen")
    draw.add_argument(
        "--results",
        type=named_file,
        nargs="+",
        default=[],
        metavar="[NAME=]FILE",
        help="result files whose trajectories of the episode are drawn too",
    )
    draw.set_defaults(run_command=_draw)


def _draw(options: argparse.Namespace) -> None:
    from babywalk.commands.draw import draw

    draw(
        options.data,
        options.file,
        scan=options.house,
        task=options.task,
        split=options.split,
        episode=options.episode,
        results=options.results,
    )
    print_line(f"Picture: {options.file}")
