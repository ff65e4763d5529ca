"""The command line: arguments to recipes and results to text. What is done stands in `recipes`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import babywalk
from babywalk.errors import BabyWalkError, ConfigError

USER_ERROR = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. Bad input is one sentence on standard error and code 2."""
    options = _parser().parse_args(arguments)
    try:
        options.run_command(options)
        sys.stdout.flush()
    except BabyWalkError as error:
        return _fail(str(error))
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}.")
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted; nothing half-written was kept.\n")
        return INTERRUPTED
    return 0


def _fail(message: str) -> int:
    sys.stderr.write(f"babywalk: {message}\n")
    return USER_ERROR


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def _say_json(value: Any) -> None:
    _say(json.dumps(value, indent=2, ensure_ascii=False, default=str))


class _Parser(argparse.ArgumentParser):
    """A parser that answers a mistake with one sentence."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"babywalk: {message}. Try '{self.prog} --help'.\n")
        raise SystemExit(USER_ERROR)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="babywalk",
        description="Vision-and-language navigation by taking Baby-Steps.",
        epilog="Start here:\n  babywalk data dollhouse demo/data\n  babywalk data stats --data demo/data",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"babywalk {babywalk.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    data = _command(commands, "data", "make, read, check and describe data", "babywalk data --help")
    _add_data_commands(data.add_subparsers(metavar="COMMAND", required=True))
    _add_result_commands(commands)
    return parser


def _command(commands: Any, name: str, what: str, *examples: str) -> argparse.ArgumentParser:
    """A command with its examples under its help."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        epilog="\n".join(
            ["Examples:" if len(examples) > 1 else "Example:", *(f"  {line}" for line in examples)]
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def _add_data_commands(commands: Any) -> None:
    dollhouse = _command(
        commands,
        "dollhouse",
        "write a complete synthetic data set: houses, views, walks, instructions",
        "babywalk data dollhouse demo/data",
        "babywalk data dollhouse /tmp/small --houses 4 --seed 7",
    )
    dollhouse.add_argument("folder", type=Path, metavar="DIR", help="a new folder for the data")
    dollhouse.add_argument(
        "--houses", type=int, default=30, metavar="N", help="how many houses (default: 30)"
    )
    dollhouse.add_argument(
        "--width", type=int, default=64, metavar="D", help="numbers per view (default: 64)"
    )
    _add_seed(dollhouse)
    _add_json(dollhouse)
    dollhouse.set_defaults(run_command=_data_dollhouse)

    imported = _command(
        commands,
        "import",
        "turn raw files into a data directory, or add to one",
        "babywalk data import --connectivity raw/connectivity --r2r raw/R2R data",
        "babywalk data import --boxes raw/BBox --rooms raw/rooms data",
        "babywalk data import --features resnet=raw/ResNet-152-imagenet.tsv data",
        "babywalk data import --glove raw/train_vocab.txt raw/train_glove.npy data",
    )
    imported.add_argument(
        "folder", type=Path, nargs="?", metavar="DIR", help="the data directory, new or existing"
    )
    for flag, what in (
        ("--connectivity", "folder of <scan>_connectivity.json"),
        ("--r2r", "folder of R2R_<split>.json"),
        ("--boxes", "folder of <scan>_<viewpoint>.json object boxes, for the 'objects' features"),
        ("--rooms", "folder of *_room_pano_{image,label}.txt room classes, used with --boxes"),
        ("--fine-grained", "folder of FGR2R_<split>.json sub-instructions"),
    ):
        imported.add_argument(flag, type=Path, metavar="DIR", help=what)
    imported.add_argument(
        "--categories",
        type=Path,
        metavar="TSV",
        help="object name to group (default: category_mapping.tsv in or beside the boxes)",
    )
    imported.add_argument(
        "--features",
        nargs="+",
        default=[],
        metavar="[NAME=]TSV",
        help="view features; the name defaults to the file's",
    )
    imported.add_argument(
        "--glove", type=Path, nargs=2, metavar=("VOCAB", "NPY"), help="words and their vectors"
    )
    imported.add_argument(
        "--precision", default="float16", help="of stored features: float16 (default) or float32"
    )
    _add_json(imported)
    imported.set_defaults(run_command=_data_import)

    build = _command(
        commands,
        "build",
        "join R2R walks into longer tasks: r4r, r6r, r8r",
        "babywalk data build r4r r6r r8r --data data",
        "babywalk data build r8r --data data --splits val_unseen --all",
    )
    build.add_argument("tasks", nargs="+", metavar="TASK", help="r4r, r6r or r8r")
    _add_data(build)
    build.add_argument("--splits", nargs="+", metavar="SPLIT", help="default: every split with goals")
    build.add_argument(
        "--all",
        dest="full",
        action="store_true",
        help="keep every combination, instead of a seeded draw to the published size",
    )
    _add_seed(build)
    _add_json(build)
    build.set_defaults(run_command=_data_build)

    stats = _command(
        commands,
        "stats",
        "print the data table of the paper for a data directory",
        "babywalk data stats --data data",
        "babywalk data stats --data data --figure lengths.png",
    )
    _add_data(stats)
    stats.add_argument(
        "--figure",
        type=Path,
        metavar="FILE",
        help="draw the lengths of instructions and paths (png, svg, pdf)",
    )
    _add_json(stats)
    stats.set_defaults(run_command=_data_stats)

    segment = _command(
        commands,
        "segment",
        "cut the instructions of a data directory into Baby-Steps",
        "babywalk data segment --data data",
        "babywalk data segment --data data --splits val_seen --tagger en_core_web_sm",
    )
    _add_data(segment)
    segment.add_argument("--splits", nargs="+", metavar="SPLIT", help="default: all")
    segment.add_argument(
        "--check", metavar="SPLIT", help="compare with the sub-instructions that people marked in a split"
    )
    _add_tagger(segment)
    segment.add_argument("--workers", type=int, default=2, metavar="N", help="processes (default: 2)")
    _add_json(segment)
    segment.set_defaults(run_command=_data_segment)

    landmarks = _command(
        commands,
        "landmarks",
        "train the landmark classifier and report its average precision on val_seen",
        "babywalk data landmarks --data data",
    )
    _add_data(landmarks)
    _add_features(landmarks)
    _add_json(landmarks)
    landmarks.set_defaults(run_command=_data_landmarks)

    align = _command(
        commands,
        "align",
        "find the stretch of path that each Baby-Step describes",
        "babywalk data align r2r r4r --data data",
        "babywalk data align r4r --data data --method proportional",
        "babywalk data align --data data --check val_seen",
    )
    align.add_argument("tasks", nargs="*", metavar="TASK", help="r2r, r4r, r6r or r8r")
    _add_data(align)
    align.add_argument("--splits", nargs="+", metavar="SPLIT", help="default: train")
    align.add_argument("--method", default="best", help="best (learned, default), paper or proportional")
    align.add_argument(
        "--joints", action="store_true", help="let the best method know where joined walks meet"
    )
    align.add_argument(
        "--check", metavar="SPLIT", help="compare all methods with the sub-instructions that people marked"
    )
    _add_features(align)
    _add_json(align)
    align.set_defaults(run_command=_data_align)

    export = _command(
        commands,
        "export",
        "write a task in the community's JSON format, which other VLN code reads",
        "babywalk data export r4r --data data --split val_unseen R4R_val_unseen.json",
        "babywalk data export r8r --data data --split train:1000 small.json",
    )
    export.add_argument("task", metavar="TASK", help="r2r, r4r, r6r or r8r")
    export.add_argument("file", type=Path, metavar="FILE.json")
    _add_data(export)
    _add_split(export)
    _add_seed(export)
    export.add_argument(
        "--steps", action="store_true", help="with the Baby-Steps: sub-instructions, sub-paths, headings"
    )
    export.set_defaults(run_command=_data_export)

    fetch = _command(
        commands,
        "fetch",
        "list what can be downloaded from its publishers, or download it",
        "babywalk data fetch",
        "babywalk data fetch connectivity r2r --to raw",
        "babywalk data fetch boxes --to raw --accept-terms",
    )
    fetch.add_argument("names", nargs="*", metavar="NAME", help="what to download; nothing lists all")
    fetch.add_argument("--to", type=Path, default=Path("raw"), metavar="DIR", help="where to (default: raw)")
    fetch.add_argument("--accept-terms", action="store_true", help="accept the terms of what is asked for")
    _add_json(fetch)
    fetch.set_defaults(run_command=_data_fetch)

    verify = _command(
        commands,
        "verify",
        "check every file of a data directory against its manifest",
        "babywalk data verify data",
    )
    verify.add_argument("folder", type=Path, metavar="DIR")
    _add_json(verify)
    verify.set_defaults(run_command=_data_verify)


def _add_result_commands(commands: Any) -> None:
    demo = _command(
        commands, "demo", "show what BabyWalk does on built-in data, from nothing", "babywalk demo demo"
    )
    demo.add_argument("folder", type=Path, metavar="DIR", help="where everything goes; kept and reused")
    demo.set_defaults(run_command=_demo)

    segment = _command(
        commands,
        "segment",
        "cut one instruction into Baby-Steps, its landmarks marked",
        'babywalk segment "Walk past the couch and go up the stairs. Stop by the bed."',
        'babywalk segment --mode sentence "Turn left. Go to the door. Wait."',
    )
    segment.add_argument("text", metavar="TEXT", help="the instruction; - reads it from standard input")
    segment.add_argument("--mode", default="template", help="template (the six rules, default) or sentence")
    segment.add_argument(
        "--reading", default="either", help="of rule 5: both, either (default) or either-strict"
    )
    segment.add_argument(
        "--max-steps", type=int, default=0, metavar="N", help="at most N steps (default: any)"
    )
    _add_tagger(segment)
    _add_json(segment)
    segment.set_defaults(run_command=_segment)

    train = _command(
        commands,
        "train",
        "train an agent: babywalk or seq2seq",
        "babywalk train babywalk --data demo/data --task r4r --preset small --run runs/babywalk",
        "babywalk train seq2seq --data demo/data --run runs/seq2seq --set imitation.iterations=500",
        "babywalk train babywalk --data demo/data --run runs/babywalk --resume",
    )
    train.add_argument("agent", metavar="AGENT", help="babywalk or seq2seq")
    _add_data(train)
    train.add_argument("--run", type=Path, required=True, metavar="DIR", help="where the run is kept")
    train.add_argument("--task", default="r4r", metavar="TASK", help="to train on (default: r4r)")
    train.add_argument("--preset", default="small", metavar="NAME", help="paper, small (default) or tiny")
    train.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", help="change settings, as in policy.gamma=5"
    )
    train.add_argument("--resume", action="store_true", help="go on where a run stopped")
    _add_seed(train)
    _add_json(train)
    train.set_defaults(run_command=_train)

    follow = _command(
        commands,
        "follow",
        "let a trained agent follow an instruction that you type",
        'babywalk follow runs/babywalk --house dollhouse_025 --viewpoint d025-v003 "Exit the room and stop."',
    )
    follow.add_argument("model", type=Path, metavar="RUN", help="a run's directory, or a model's file")
    follow.add_argument("text", metavar="TEXT", help="the instruction")
    follow.add_argument("--data", type=Path, metavar="DIR", help="default: what the run was trained on")
    follow.add_argument("--house", required=True, metavar="SCAN")
    follow.add_argument("--viewpoint", required=True, metavar="ID", help="where the agent stands")
    follow.add_argument("--heading", type=float, default=0.0, metavar="DEGREES", help="0 is north, 90 east")
    follow.add_argument("--picture", type=Path, metavar="FILE", help="draw the walk: png, svg or pdf")
    _add_json(follow)
    follow.set_defaults(run_command=_follow)

    evaluate = _command(
        commands,
        "evaluate",
        "let an agent walk tasks, and measure it",
        "babywalk evaluate --agent shortest --data data --on r2r --split val_unseen",
        "babywalk evaluate --agent random --data data --on r2r,r4r --split val_seen --seeds 10",
    )
    evaluate.add_argument(
        "--agent", required=True, metavar="NAME", help="stop, random, shortest, or a run's directory or model"
    )
    _add_data(evaluate)
    evaluate.add_argument(
        "--on", default="r2r", metavar="TASKS", help="tasks with commas between (default: r2r)"
    )
    _add_split(evaluate)
    evaluate.add_argument(
        "--seeds", type=int, default=1, metavar="N", help="walk N times, with seeds S, S+1, ... (default: 1)"
    )
    evaluate.add_argument(
        "--trajectories", type=Path, metavar="DIR", help="keep what was walked, a result file per task"
    )
    _add_measuring(evaluate)
    evaluate.set_defaults(run_command=_evaluate)

    score = _command(
        commands,
        "score",
        "check and measure a result file of any agent",
        "babywalk score results.json --data data --task r2r --split val_unseen",
        "babywalk score results.json --data data --task r4r --split val_unseen --by-length words",
    )
    score.add_argument("results", type=Path, metavar="RESULTS.json", help="in the leaderboard's format")
    _add_data(score)
    score.add_argument("--task", default="r2r", metavar="TASK", help="r2r (default), r4r, r6r or r8r")
    _add_split(score)
    score.add_argument(
        "--per-instruction", type=Path, metavar="FILE.csv", help="write the measures of every instruction"
    )
    _add_measuring(score)
    score.set_defaults(run_command=_score)

    submit = _command(
        commands,
        "submit",
        "write the leaderboard file of a test split from trajectories",
        "babywalk submit results.json --data data --split test submission.json",
    )
    submit.add_argument(
        "results", type=Path, metavar="RESULTS.json", help="trajectories, with or without headings"
    )
    submit.add_argument("file", type=Path, metavar="FILE.json", help="the file to write")
    _add_data(submit)
    _add_split(submit, default="test")
    submit.set_defaults(run_command=_submit)

    draw = _command(
        commands,
        "draw",
        "draw a house from above, with paths in it",
        "babywalk draw house.png --data data --house dollhouse_001",
        "babywalk draw walk.svg --data data --split val_seen --episode 1_0 --results agent=results.json",
    )
    draw.add_argument("file", type=Path, metavar="FILE", help="the picture to write: png, svg or pdf")
    _add_data(draw)
    draw.add_argument("--house", metavar="SCAN", help="a house by its name")
    draw.add_argument("--episode", metavar="ID", help="an instruction, as in 4332_0, with its expert path")
    draw.add_argument("--task", default="r2r", metavar="TASK", help="of the episode (default: r2r)")
    _add_split(draw, default="val_unseen")
    draw.add_argument(
        "--results",
        type=_named_file,
        nargs="+",
        default=[],
        metavar="[NAME=]FILE",
        help="result files: their answers to the episode are drawn too",
    )
    draw.set_defaults(run_command=_draw)


def _add_measuring(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--by-length",
        nargs="?",
        const="words",
        metavar="WHAT",
        help="also by length of the instruction (words, the default) or of the path (metres)",
    )
    parser.add_argument(
        "--per-path", action="store_true", help="average over paths instead of over instructions"
    )
    _add_seed(parser)
    _add_json(parser)


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="the data directory")


def _add_tagger(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tagger",
        metavar="NAME",
        help="an installed spaCy pipeline (default: the one that ships with BabyWalk)",
    )


def _add_features(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--features", metavar="SPEC", help="what is seen (default: objects, or the first source)"
    )


def _add_split(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    parser.add_argument(
        "--split",
        default=default,
        required=default is None,
        metavar="SPLIT",
        help="train, val_seen, val_unseen or test; SPLIT:N is a seeded sample of N instructions",
    )


def _add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of every random draw (default: 0)")


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="answer in JSON, for programs")


def _named_file(text: str) -> tuple[str, Path]:
    name, equals, file = text.rpartition("=")
    return (name if equals else Path(file).stem.lower(), Path(file))


# Recipes are imported where they are used: help and errors in arguments answer at once.


def _data_dollhouse(options: argparse.Namespace) -> None:
    from babywalk import recipes
    from babywalk.assets.dollhouse import DollhouseConfig

    config = DollhouseConfig(houses=options.houses, seed=options.seed, width=options.width)
    made = recipes.make_dollhouse(options.folder, config)
    _say_imported(made, options, f"babywalk data stats --data {options.folder}")


def _data_import(options: argparse.Namespace) -> None:
    from babywalk.episodes.importing import RawFiles, import_data

    if options.folder is None:
        # What follows --features is taken for a file, the last word too, and that one is the folder.
        if not options.features:
            raise ConfigError("Say where the data go: babywalk data import ... DIR.")
        options.folder = Path(options.features.pop())
    raw = RawFiles(
        connectivity=options.connectivity,
        r2r=options.r2r,
        boxes=options.boxes,
        categories=options.categories,
        rooms=options.rooms,
        features=tuple(_named_file(text) for text in options.features),
        glove=tuple(options.glove) if options.glove else None,
        fine_grained=options.fine_grained,
    )
    made = import_data(raw, options.folder, precision=options.precision)
    _say_imported(made, options, f"babywalk data build r4r r6r r8r --data {options.folder}")


def _say_imported(made: Any, options: argparse.Namespace, then: str) -> None:
    if options.json:
        _say_json(asdict(made))
        return
    for line in made.lines:
        _say(f"  {line}")
    _say(f"The data are in {made.folder}. Next: {then}")


def _data_build(options: argparse.Namespace) -> None:
    from babywalk import recipes
    from babywalk.tables import table

    tasks = recipes.build_tasks(
        options.data, options.tasks, options.splits, full=options.full, seed=options.seed
    )
    rows = [
        {
            "task": task.name,
            "split": task.split,
            "instructions": len(task),
            "paths": len(task.chains_used),
            "of": task.full_size,
        }
        for task in tasks
    ]
    if options.json:
        _say_json(rows)
        return
    header = ["task", "split", "instructions", "paths", "of"]
    _say(table(header, [[_cell(row[name]) for name in header] for row in rows]))
    _say(f"Next: babywalk data stats --data {options.data}")


def _data_stats(options: argparse.Namespace) -> None:
    from babywalk import recipes
    from babywalk.validation.data_table import data_table, step_table

    found = recipes.data_statistics(options.data, figure=options.figure)
    steps = recipes.step_counts(options.data)
    if options.json:
        _say_json({**asdict(found), "babysteps": steps})
        return
    _say(data_table(found))
    _say("\n" + step_table(steps) if steps else f"Baby-Steps: babywalk data segment --data {options.data}")
    if options.figure:
        _say(f"The distributions of lengths are drawn in {options.figure}")


def _data_segment(options: argparse.Namespace) -> None:
    from babywalk import recipes
    from babywalk.tables import table

    if options.check:
        agreed = recipes.check_segments(options.data, options.check)
        if options.json:
            _say_json({label: asdict(counts) for label, counts in agreed.items()})
            return
        lines = [
            [label, f"{c.ours:,}", f"{c.theirs:,}", f"{c.both:,}"]
            + [f"{100 * share:.1f}" for share in (c.precision, c.recall, c.f1)]
            for label, c in agreed.items()
        ]
        header = [f"boundaries in {options.check}", "ours", "theirs", "both", "precision", "recall", "F1"]
        _say(table(header, lines))
        return
    found = recipes.segment_data(options.data, options.splits, tagger=options.tagger, workers=options.workers)
    rows = [
        {"split": split, "instructions": len(steps), "steps": len(steps.sentences.values), "mean": steps.mean}
        for split, steps in found.items()
    ]
    if options.json:
        _say_json(rows)
        return
    header = ["split", "instructions", "steps", "mean"]
    _say(table(header, [[_cell(row[name]) for name in header] for row in rows]))
    _say(f"Next: babywalk data stats --data {options.data}")


def _segment(options: argparse.Namespace) -> None:
    from babywalk.instructions.identification import IdentificationConfig
    from babywalk.instructions.segmenting import segment
    from babywalk.instructions.tagging import load_tagger

    text = sys.stdin.read() if options.text == "-" else options.text
    config = IdentificationConfig(mode=options.mode, reading=options.reading, max_steps=options.max_steps)
    steps = segment(text, config, tagger=load_tagger(options.tagger))
    if options.json:
        _say_json([asdict(step) for step in steps])
        return
    if not steps:
        raise ConfigError("The instruction has no words.")
    for number, step in enumerate(steps, start=1):
        _say(f"{number}  {step.text}")
        _say(f"   landmarks: {', '.join(step.landmarks) or '-'}; verbs: {', '.join(step.verbs) or '-'}")


def _data_landmarks(options: argparse.Namespace) -> None:
    from babywalk import experiments
    from babywalk.tables import table

    report = experiments.learn_landmarks(options.data, options.features)
    if options.json:
        _say_json(asdict(report))
        return
    rows = [
        [item.landmark, f"{item.texts:,}", f"{100 * item.average:.1f}", f"{100 * item.chance:.1f}"]
        for item in report.landmarks[:20]
    ]
    _say(table(["landmark", "texts", "average precision", "by chance"], rows))
    _say(
        f"Mean over {len(report.landmarks)} landmarks of val_seen: {100 * report.mean:.1f} "
        f"(by chance {100 * report.chance:.1f})"
    )
    for example in report.examples:
        found = ", ".join(f"{name} {chance:.0%}" for name, chance in example.found)
        _say(f"\n{example.text}\n  named: {', '.join(example.named) or '-'}\n  found: {found}")
    _say(f"\nNext: babywalk data align r4r --data {options.data} --method paper")


def _data_align(options: argparse.Namespace) -> None:
    from babywalk import experiments
    from babywalk.tables import table

    if options.check:
        placed = experiments.compare_alignments(options.data, options.check, options.features)
        if options.json:
            _say_json({method: asdict(found) for method, found in placed.items()})
            return
        rows = [
            [method, f"{100 * found.exact:.1f}", f"{100 * found.within_one:.1f}", f"{found.ends:,}"]
            for method, found in placed.items()
        ]
        _say(table([f"ends in {options.check}", "exact %", "within one %", "ends"], rows))
        return
    if not options.tasks:
        raise ConfigError("Say what to align: one or more of r2r, r4r, r6r, r8r; or --check SPLIT.")
    found = experiments.align_data(
        options.data,
        options.tasks,
        options.splits,
        method=options.method,
        features=options.features,
        joints=options.joints,
    )
    rows = [[s.task.name, s.task.split, f"{len(s):,}", f"{len(s.sentences.values):,}"] for s in found]
    if options.json:
        _say_json(rows)
        return
    _say(table(["task", "split", "instructions", "steps"], rows))
    _say(f"Next: babywalk train babywalk --data {options.data} --task {options.tasks[0]} --run runs/babywalk")


def _data_export(options: argparse.Namespace) -> None:
    from babywalk import recipes

    count = recipes.export_task(
        options.data, options.task, options.split, options.file, seed=options.seed, steps=options.steps
    )
    _say(f"{count:,} instructions in {options.file}")


def _data_fetch(options: argparse.Namespace) -> None:
    from babywalk.assets.catalogue import ASSETS
    from babywalk.assets.fetch import fetch
    from babywalk.tables import size, table

    if options.names:
        files = fetch(options.names, options.to, accept_terms=options.accept_terms)
        if options.json:
            _say_json([str(file) for file in files])
        else:
            _say("\n".join(f"  {file}" for file in files))
            _say("Next: babywalk data import --help")
        return
    if options.json:
        _say_json([asdict(asset) for asset in ASSETS.values()])
        return
    rows = [
        [
            asset.name,
            size(asset.size) if asset.size else "?",
            "yes" if asset.terms else "",
            f"  {asset.licence}",
        ]
        for asset in ASSETS.values()
    ]
    _say(table(["name", "size", "terms", "  licence"], rows))
    for asset in ASSETS.values():
        _say(f"  {asset.name}: {asset.what}")
    _say("Download with: babywalk data fetch NAME ... --to raw   (--accept-terms where terms say yes)")


def _data_verify(options: argparse.Namespace) -> None:
    from babywalk.assets.manifest import verify
    from babywalk.tables import size

    found = verify(options.folder)
    if options.json:
        _say_json(asdict(found))
    else:
        _say(f"{found.files:,} files in {found.components:,} components, {size(found.bytes)}")
    if found.findings:
        listed = "; ".join(f"{finding.file} {finding.problem}" for finding in found.findings[:3])
        more = f" (and {len(found.findings) - 3:,} more)" if len(found.findings) > 3 else ""
        raise ConfigError(f"{len(found.findings):,} files are not as their manifests say: {listed}{more}.")
    if not options.json:
        _say("Every file is as its manifest says.")


def _demo(options: argparse.Namespace) -> None:
    from babywalk import recipes

    for line in recipes.demo(options.folder):
        _say(line)


def _train(options: argparse.Namespace) -> None:
    from babywalk import experiments
    from babywalk.config import from_assignments, merged

    settings = from_assignments(options.set)
    if not options.resume:
        settings = merged({"seed": options.seed}, settings)
    done = experiments.train_agent(
        options.agent,
        options.data,
        options.run,
        task=options.task,
        preset=options.preset,
        settings=settings,
        resume=options.resume,
    )
    if options.json:
        _say_json(asdict(done))
        return
    for stage, best in done.bests.items():
        _say(f"  {stage:<12} best validation SDTW {100 * best:.1f}")
    _say(f"The model is {options.run / 'model.safetensors'}, after {done.total:,} iterations.")
    _say(
        f"Next: babywalk evaluate --agent {options.run} --data {options.data} --on r2r,r4r --split val_unseen"
    )


def _follow(options: argparse.Namespace) -> None:
    from babywalk import experiments

    found = experiments.follow_instruction(
        options.model,
        options.data,
        options.house,
        options.viewpoint,
        options.heading,
        options.text,
        picture=options.picture,
    )
    if options.json:
        _say_json(asdict(found))
        return
    for number, step in enumerate(found.steps):
        _say(f"{number + 1}  {step}")
        for move in found.moves:
            if move.step == number:
                read = ", ".join(word for word, _ in sorted(move.words, key=lambda pair: -pair[1])[:3])
                _say(f"   {move.at} -> {move.to or 'STOP':<12} {move.probability:4.0%}  read: {read}")
    _say(f"Path: {' '.join(found.path)}")
    if options.picture:
        _say(f"Drawn in {options.picture}")


def _evaluate(options: argparse.Namespace) -> None:
    from babywalk import recipes

    if options.seeds < 1:
        raise ConfigError(f"--seeds {options.seeds} walks nothing. Give at least 1.")
    seeds = range(options.seed, options.seed + options.seeds)
    reports = {
        f"{options.agent} {seed}" if options.seeds > 1 else options.agent: recipes.evaluate_agent(
            options.agent,
            options.data,
            options.on.split(","),
            options.split,
            seed=seed,
            per_path=options.per_path,
            length=options.by_length,
            trajectories=options.trajectories,
        )
        for seed in seeds
    }
    _say_reports(options, reports)


def _score(options: argparse.Namespace) -> None:
    from babywalk import recipes

    report = recipes.score_results(
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
        _say(f"The measures of every instruction are in {options.per_instruction}")


def _say_reports(options: argparse.Namespace, runs: dict[str, list[Any]]) -> None:
    """Reports of one or more runs over the same tasks, and their mean where there are several."""
    from babywalk.validation.score_table import length_table, mean_over_runs, score_table

    if options.json:
        _say_json({run: [asdict(report) for report in reports] for run, reports in runs.items()})
        return
    rows = {f"{run} {report.task}": report.measures for run, found in runs.items() for report in found}
    _say(score_table(rows))
    if len(runs) > 1:
        tasks = [report.task for report in next(iter(runs.values()))]
        means = {
            task: mean_over_runs([reports[number].measures for reports in runs.values()])
            for number, task in enumerate(tasks)
        }
        _say(f"\nMean over {len(runs)} seeds, and the range of the seeds:")
        _say(score_table(means, interval="range"))
    for run, found in runs.items():
        for report in found:
            if report.by_length:
                _say(f"\n{run} {report.task} by length")
                _say(length_table(report.by_length, options.by_length))
    first = next(iter(runs.values()))
    counts = ", ".join(f"{report.episodes:,} of {report.task} {report.split}" for report in first)
    _say(f"\nInstructions: {counts}. PL and NE in metres, the rest in percent.")


def _submit(options: argparse.Namespace) -> None:
    from babywalk import recipes

    count = recipes.submit(options.results, options.data, options.split, options.file)
    _say(f"{count:,} trajectories in {options.file}")


def _draw(options: argparse.Namespace) -> None:
    from babywalk import recipes

    recipes.draw(
        options.data,
        options.file,
        scan=options.house,
        task=options.task,
        split=options.split,
        episode=options.episode,
        results=options.results,
    )
    _say(f"Drawn in {options.file}")


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    raise SystemExit(main())
