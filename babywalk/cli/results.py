"""Commands that walk, measure and draw."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from babywalk.assets.trained import built_in_models
from babywalk.cli.options import (
    add_data,
    add_json,
    add_measuring,
    add_seed,
    add_split,
    add_task,
    comma_separated,
    command,
    named_file,
    print_json,
    print_line,
    shell_quoted,
)
from babywalk.common.errors import ConfigError


def add_commands(commands: Any) -> None:
    """Declare them."""
    _add_demo(commands)
    _add_evaluate(commands)
    _add_score(commands)
    _add_table(commands)
    _add_diagnose(commands)
    _add_submit(commands)
    _add_draw(commands)


def _add_demo(commands: Any) -> None:
    demo = command(
        commands, "demo", "show what BabyWalk does on built-in data, from nothing", "babywalk demo demo"
    )
    demo.add_argument("folder", type=Path, metavar="DIR", help="where everything goes; kept and reused")
    add_seed(demo)
    demo.set_defaults(run_command=_demo)


def _demo(options: argparse.Namespace) -> None:
    from babywalk.commands.demo import demo

    for line in demo(options.folder, seed=options.seed):
        print_line(line)


def _add_evaluate(commands: Any) -> None:
    evaluate = command(
        commands,
        "evaluate",
        "let an agent walk tasks, and measure it",
        "babywalk evaluate oracle --data data --tasks r2r --split val_unseen",
        "babywalk evaluate random --data data --tasks r2r,r4r --split val_seen --seeds 10",
        "babywalk evaluate runs/babywalk --data data --tasks r4r --split val_unseen:500 --baby-steps",
        "babywalk evaluate runs/babywalk --data data --tasks r4r --split val_unseen --trajectories walks",
        "babywalk evaluate runs/babywalk --data data --tasks r2r,r4r --split val_unseen --by-length words",
    )
    evaluate.add_argument(
        "agent",
        nargs="?",
        metavar="AGENT",
        help="stop, random, oracle, a run's directory, a model's file, or a built-in model: "
        + ", ".join(built_in_models()),
    )
    evaluate.add_argument("--agent", dest="named", metavar="NAME", help="the same, as an option")
    add_data(evaluate)
    evaluate.add_argument(
        "--tasks", default="r2r", metavar="TASKS", help="tasks with commas between (default: r2r)"
    )
    add_split(evaluate)
    evaluate.add_argument(
        "--seeds", type=int, default=1, metavar="N", help="walk N times, with seeds S, S+1, ... (default: 1)"
    )
    evaluate.add_argument(
        "--trajectories",
        type=Path,
        metavar="DIR",
        help="keep what was walked, as r4r_val_unseen.json; of a sample, as r4r_val_unseen_40.json",
    )
    evaluate.add_argument(
        "--baby-steps",
        action="store_true",
        help="walk each aligned Baby-Step alone, from where and facing as the expert began it",
    )
    evaluate.add_argument(
        "--step-size",
        type=int,
        metavar="N",
        help="tell steps of about N characters, 0 for the smallest (default: the model's own size)",
    )
    add_measuring(evaluate)
    evaluate.set_defaults(run_command=_evaluate)


def _evaluate(options: argparse.Namespace) -> None:
    from babywalk.commands.evaluate import (
        evaluate_agent,
        evaluate_single_steps,
        result_file,
    )

    if options.seeds < 1:
        raise ConfigError(f"--seeds {options.seeds} walks nothing. Give at least 1.")
    if options.baby_steps and options.trajectories:
        raise ConfigError("--trajectories keeps walks of whole instructions. Leave it out with --baby-steps.")
    if options.baby_steps and options.step_size is not None:
        raise ConfigError("--baby-steps are told as they are. Leave out --step-size.")
    if options.seeds > 1 and options.trajectories:
        raise ConfigError("--trajectories keeps the walks of one seed. Leave out --seeds, or give --seed.")
    agent = _one_agent(options)
    seeds = range(options.seed, options.seed + options.seeds)
    common = (agent, options.data, comma_separated(options.tasks), options.split)
    # All seeds walk the same instructions of a sample, so that they differ by the agent's luck alone.
    measuring = {"seed": options.seed, "per_path": options.per_path, "length": options.by_length}
    reports = {
        f"{agent} {agent_seed}" if options.seeds > 1 else agent: evaluate_single_steps(
            *common, agent_seed=agent_seed, **measuring
        )
        if options.baby_steps
        else evaluate_agent(
            *common,
            agent_seed=agent_seed,
            trajectories=options.trajectories,
            step_size=options.step_size,
            **measuring,
        )
        for agent_seed in seeds
    }
    if not any(reports.values()) and not options.json:
        file = result_file(options.trajectories, comma_separated(options.tasks)[0], options.split)
        print_line(
            f"{options.split} has no goals to measure against; trajectories are in {options.trajectories}."
        )
        print_line(
            f"Next: babywalk submit {shell_quoted(file)} --data {shell_quoted(options.data)} submission.json"
        )
        return
    _say_reports(options, reports)
    if options.trajectories and not options.json:
        print_line(
            f"The walks are in {options.trajectories}; 'babywalk diagnose' and 'babywalk draw' take them."
        )


def _one_agent(options: argparse.Namespace) -> str:
    given = [name for name in (options.agent, options.named) if name is not None]
    if not given:
        raise ConfigError("Say which agent walks: babywalk evaluate AGENT ...")
    if len(given) > 1:
        raise ConfigError(f"The agent is given twice: {given[0]!r}, and --agent {given[1]!r}. Give it once.")
    return str(given[0])


def _add_score(commands: Any) -> None:
    score = command(
        commands,
        "score",
        "check and measure a result file of any agent",
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
    add_measuring(score)
    score.set_defaults(run_command=_score)


def _score(options: argparse.Namespace) -> None:
    from babywalk.commands.evaluate import (
        score_results,
    )

    report = score_results(
        options.results,
        options.data,
        options.task,
        options.split,
        seed=options.seed,
        per_path=options.per_path,
        length=options.by_length,
        per_instruction=options.per_instruction,
    )
    _say_reports(options, {options.results.stem: [report]})
    if options.per_instruction and not options.json:
        print_line(f"The measures of every instruction are in {options.per_instruction}")


def _say_reports(options: argparse.Namespace, runs: dict[str, list[Any]]) -> None:
    """Reports of one or more runs over the same tasks, and their mean where there are several."""
    from babywalk.evaluation.score_table import length_table, mean_over_runs, score_table

    if options.json:
        print_json({run: [asdict(report) for report in reports] for run, reports in runs.items()})
        return
    rows = {f"{run} {report.task}": report.measures for run, found in runs.items() for report in found}
    print_line(score_table(rows))
    if len(runs) > 1:
        tasks = [report.task for report in next(iter(runs.values()))]
        means = {
            task: mean_over_runs([reports[number].measures for reports in runs.values()])
            for number, task in enumerate(tasks)
        }
        print_line(f"\nMean over {len(runs)} seeds, and the range of the seeds:")
        print_line(score_table(means, interval="range"))
    for run, found in runs.items():
        for report in found:
            if report.by_length:
                print_line(f"\n{run} {report.task} by length")
                print_line(length_table(report.by_length, options.by_length))
    first = next(iter(runs.values()))
    counts = ", ".join(f"{report.episodes:,} of {report.task} {report.split}" for report in first)
    unit = first[0].unit
    print_line(f"\n{unit[0].upper()}{unit[1:]}: {counts}. PL and NE in metres, the rest in percent.")


def _add_table(commands: Any) -> None:
    table = command(
        commands,
        "table",
        "put results side by side in one table, with the paper's below",
        "babywalk evaluate runs/babywalk --data data --tasks r2r,r4r --split val_unseen --json > babywalk.json",
        "babywalk table babywalk.json seq2seq.json --paper r4r",
        "babywalk table a.json b.json --name BABYWALK SEQ2SEQ --measures SR,SPL,SDTW --intervals --markdown",
    )
    table.add_argument(
        "results",
        type=Path,
        nargs="+",
        metavar="RESULTS.json",
        help="what 'babywalk evaluate --json' or 'score --json' said",
    )
    table.add_argument(
        "--name",
        nargs="+",
        action="extend",
        default=[],
        metavar="LABEL",
        help="what to call the agent of each file, in order",
    )
    table.add_argument("--measures", metavar="NAMES", help="with commas between (default: SR,CLS,nDTW,SDTW)")
    table.add_argument(
        "--paper", metavar="TASK", help="add the paper's agents that were trained on TASK, as in r4r"
    )
    table.add_argument("--intervals", action="store_true", help="add the 95 %% intervals of SDTW")
    table.add_argument("--markdown", action="store_true", help="as a table for documents")
    table.set_defaults(run_command=_table)


def _table(options: argparse.Namespace) -> None:
    from babywalk.commands.evaluate import (
        compare_results,
    )
    from babywalk.evaluation.comparison_table import Layout

    chosen = {"measures": tuple(comma_separated(options.measures))} if options.measures else {}
    layout = Layout(**chosen, paper=options.paper, intervals=options.intervals, markdown=options.markdown)
    print_line(compare_results(options.results, layout, options.name))


def _add_diagnose(commands: Any) -> None:
    diagnose = command(
        commands,
        "diagnose",
        "say where an agent fails: lengths, stopping, steps, stairs, words, houses",
        "babywalk diagnose runs/babywalk --data data --task r4r --split val_unseen:500",
        "babywalk diagnose walks/r4r_val_seen.json --data data --task r4r --split val_seen --figure why.png",
    )
    diagnose.add_argument(
        "walks",
        metavar="RESULTS.json|RUN",
        help="what 'evaluate --trajectories' wrote, or an agent, which walks first",
    )
    add_data(diagnose)
    add_task(diagnose)
    add_split(diagnose)
    diagnose.add_argument("--figure", type=Path, metavar="FILE", help="draw it too: png, svg or pdf")
    add_seed(diagnose)
    add_json(diagnose)
    diagnose.set_defaults(run_command=_diagnose)


def _diagnose(options: argparse.Namespace) -> None:
    from babywalk.commands.diagnose import diagnose_walks
    from babywalk.evaluation.diagnosis.table import diagnosis_text

    found = diagnose_walks(
        options.walks,
        options.data,
        options.task,
        options.split,
        seed=options.seed,
        figure=options.figure,
    )
    if options.json:
        print_json(asdict(found))
        return
    print_line(diagnosis_text(found))
    if options.figure:
        print_line(f"Drawn in {options.figure}")


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
    submit.add_argument("file", type=Path, metavar="FILE.json", help="the file to write")
    add_data(submit)
    add_split(submit, default="test")
    submit.set_defaults(run_command=_submit)


def _submit(options: argparse.Namespace) -> None:
    from babywalk.commands.evaluate import (
        submit,
    )

    count = submit(options.results, options.data, options.split, options.file)
    print_line(f"{count:,} trajectories in {options.file}")


def _add_draw(commands: Any) -> None:
    draw = command(
        commands,
        "draw",
        "draw a house from above, with paths in it",
        "babywalk draw house.png --data data --house dollhouse_001",
        "babywalk draw walk.svg --data data --split val_seen --episode 1_0 --results agent=results.json",
    )
    draw.add_argument("file", type=Path, metavar="FILE", help="the picture to write: png, svg or pdf")
    add_data(draw)
    draw.add_argument("--house", metavar="SCAN", help="a house by its name")
    draw.add_argument("--episode", metavar="ID", help="an instruction, as in 4332_0, with its expert path")
    draw.add_argument("--task", default="r2r", metavar="TASK", help="of the episode (default: r2r)")
    add_split(draw, default="val_unseen")
    draw.add_argument(
        "--results",
        type=named_file,
        nargs="+",
        default=[],
        metavar="[NAME=]FILE",
        help="result files: their answers to the episode are drawn too",
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
    print_line(f"Drawn in {options.file}")
