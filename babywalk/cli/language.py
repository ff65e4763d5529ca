"""Commands about instructions: cutting them, naming landmarks, aligning them with paths."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import Any

from babywalk.cli.options import (
    add_data,
    add_features,
    add_json,
    add_seed,
    add_tagger,
    add_text,
    command,
    print_json,
    print_line,
    shell_quoted,
    table_cell,
)
from babywalk.common.errors import ConfigError


def add_commands(commands: Any) -> None:
    """Declare those for whole data directories."""
    _add_segment(commands)
    _add_landmarks(commands)
    _add_align(commands)
    _add_augment(commands)


def _add_segment(commands: Any) -> None:
    segment = command(
        commands,
        "segment",
        "cut the instructions of a data directory into Baby-Steps",
        "babywalk data segment --data data",
        "babywalk data segment --data data --splits val_seen --tagger en_core_web_sm",
    )
    add_data(segment)
    segment.add_argument("--splits", nargs="+", action="extend", metavar="SPLIT", help="default: all")
    segment.add_argument(
        "--check", metavar="SPLIT", help="compare with the sub-instructions that people marked in a split"
    )
    add_tagger(segment)
    _add_lists(segment)
    segment.add_argument("--workers", type=int, default=2, metavar="N", help="processes (default: 2)")
    add_json(segment)
    segment.set_defaults(run_command=_data_segment)


def _add_lists(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="LIST=WORDS",
        help='replace word lists of the rules, as in \'verb_blacklist=["turn","face"]\'',
    )


def _lists(options: argparse.Namespace) -> Any:
    from babywalk.common.config import from_assignments, from_table
    from babywalk.instructions.sentences import WordLists

    return from_table(WordLists, from_assignments(options.set), where="--set")


def _data_segment(options: argparse.Namespace) -> None:
    from babywalk.commands.data import check_segments, segment_data
    from babywalk.common.tables import table

    if options.check:
        agreed = check_segments(options.data, options.check)
        if options.json:
            print_json({label: asdict(counts) for label, counts in agreed.items()})
            return
        lines = [
            [label, f"{c.ours:,}", f"{c.theirs:,}", f"{c.both:,}"]
            + [f"{100 * share:.1f}" for share in (c.precision, c.recall, c.f1)]
            for label, c in agreed.items()
        ]
        header = [f"boundaries in {options.check}", "ours", "theirs", "both", "precision", "recall", "F1"]
        print_line(table(header, lines))
        return
    found = segment_data(
        options.data,
        options.splits,
        lists=_lists(options),
        tagger=options.tagger,
        workers=options.workers,
    )
    rows = [
        {"split": split, "instructions": len(steps), "steps": len(steps.sentences.values), "mean": steps.mean}
        for split, steps in found.items()
    ]
    if options.json:
        print_json(rows)
        return
    header = ["split", "instructions", "steps", "mean"]
    print_line(table(header, [[table_cell(row[name]) for name in header] for row in rows]))
    print_line(f"Next: babywalk data stats --data {shell_quoted(options.data)}")


def _add_landmarks(commands: Any) -> None:
    landmarks = command(
        commands,
        "landmarks",
        "train the landmark classifier and report its average precision on val_seen",
        "babywalk data landmarks --data data",
    )
    add_data(landmarks)
    add_features(landmarks)
    add_json(landmarks)
    landmarks.set_defaults(run_command=_data_landmarks)


def _data_landmarks(options: argparse.Namespace) -> None:
    from babywalk.commands.align import learn_landmarks
    from babywalk.common.tables import table

    report = learn_landmarks(options.data, options.features)
    if options.json:
        print_json(asdict(report))
        return
    rows = [
        [item.landmark, f"{item.texts:,}", f"{100 * item.average:.1f}", f"{100 * item.chance:.1f}"]
        for item in report.landmarks[:20]
    ]
    print_line(table(["landmark", "texts", "average precision", "by chance"], rows))
    print_line(
        f"Mean over {len(report.landmarks)} landmarks of val_seen: {100 * report.mean:.1f} "
        f"(by chance {100 * report.chance:.1f})"
    )
    for example in report.examples:
        found = ", ".join(f"{name} {chance:.0%}" for name, chance in example.found)
        print_line(f"\n{example.text}\n  named: {', '.join(example.named) or '-'}\n  found: {found}")
    print_line(f"\nNext: babywalk data align r4r --data {shell_quoted(options.data)} --method paper")


def _add_align(commands: Any) -> None:
    align = command(
        commands,
        "align",
        "find the stretch of path that each Baby-Step describes",
        "babywalk data align r2r r4r --data data",
        "babywalk data align r4r --data data --method proportional",
        "babywalk data align --data data --check val_seen",
    )
    align.add_argument("tasks", nargs="*", metavar="TASK", help="r2r, r4r, r6r or r8r")
    add_data(align)
    align.add_argument("--splits", nargs="+", action="extend", metavar="SPLIT", help="default: train")
    align.add_argument("--method", default="best", help="best (learned, default), paper or proportional")
    align.add_argument(
        "--joints", action="store_true", help="let the best method know where joined walks meet"
    )
    align.add_argument(
        "--check", metavar="SPLIT", help="compare all methods with the sub-instructions that people marked"
    )
    add_features(align)
    add_json(align)
    align.set_defaults(run_command=_data_align)


def _data_align(options: argparse.Namespace) -> None:
    from babywalk.commands.align import align_data, compare_alignments
    from babywalk.common.tables import table

    if options.check:
        placed = compare_alignments(options.data, options.check, options.features)
        if options.json:
            print_json({method: asdict(found) for method, found in placed.items()})
            return
        rows = [
            [method, f"{100 * found.exact:.1f}", f"{100 * found.within_one:.1f}", f"{found.ends:,}"]
            for method, found in placed.items()
        ]
        print_line(table([f"ends in {options.check}", "exact %", "within one %", "ends"], rows))
        return
    if not options.tasks:
        raise ConfigError("Say what to align: one or more of r2r, r4r, r6r, r8r; or --check SPLIT.")
    found = align_data(
        options.data,
        options.tasks,
        options.splits,
        method=options.method,
        features=options.features,
        joints=options.joints,
    )
    rows = [[s.task.name, s.task.split, f"{len(s):,}", f"{len(s.sentences.values):,}"] for s in found]
    if options.json:
        print_json(rows)
        return
    print_line(table(["task", "split", "instructions", "steps"], rows))
    data, task = shell_quoted(options.data), options.tasks[0]
    print_line(f"Next: babywalk train babywalk --data {data} --task {task} --run runs/babywalk")


def _add_augment(commands: Any) -> None:
    augment = command(
        commands,
        "augment",
        "let a speaker describe new walks of the training houses, as a split to learn from",
        "babywalk data augment --data data",
        "babywalk data augment --data data --walks 40000 --split drawn --temperature 0.5 --seed 1",
    )
    add_data(augment)
    augment.add_argument(
        "--walks", type=int, default=20_000, metavar="N", help="how many at most (default: 20,000)"
    )
    augment.add_argument(
        "--split", default="spoken", metavar="NAME", help="of the walks that are written (default: spoken)"
    )
    augment.add_argument(
        "--temperature",
        type=float,
        default=0.0,
        metavar="T",
        help="of the draw of words (default: 0, the likeliest)",
    )
    augment.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        help="settings of the speaker, as in epochs=20",
    )
    add_features(augment)
    add_seed(augment)
    add_json(augment)
    augment.set_defaults(run_command=_data_augment)


def _data_augment(options: argparse.Namespace) -> None:
    from babywalk.commands.augment import augment
    from babywalk.common.config import from_assignments

    made = augment(
        options.data,
        options.walks,
        options.split,
        features=options.features,
        temperature=options.temperature,
        seed=options.seed,
        settings=from_assignments(options.set),
    )
    if options.json:
        print_json(asdict(made))
        return
    for text in made.examples:
        print_line(f"  {text}")
    for split, value in made.perplexity.items():
        print_line(f"Perplexity of what people said in {split}: {value:.1f}")
    data = shell_quoted(options.data)
    print_line(
        f"{made.walks:,} described walks in the split {made.split}. "
        f"Next: babywalk data segment --data {data} --splits {made.split} && "
        f"babywalk data align r2r --data {data} --splits {made.split}"
    )


def add_segment(commands: Any) -> None:
    """Declare `babywalk segment`, for one instruction."""
    segment = command(
        commands,
        "segment",
        "cut one instruction into Baby-Steps, its landmarks marked",
        'babywalk segment "Walk past the couch and go up the stairs. Stop by the bed."',
        'babywalk segment --mode sentence "Turn left. Go to the door. Wait."',
    )
    add_text(segment, "the instruction, or - to read it from standard input")
    segment.add_argument("--mode", default="template", help="template (the six rules, default) or sentence")
    segment.add_argument(
        "--reading", default="either", help="of rule 5: both, either (default) or either-strict"
    )
    segment.add_argument(
        "--max-steps", type=int, default=0, metavar="N", help="at most N steps (default: any)"
    )
    segment.add_argument(
        "--size", type=int, default=0, metavar="N", help="join steps into ones of about N characters"
    )
    add_tagger(segment)
    _add_lists(segment)
    add_json(segment)
    segment.set_defaults(run_command=_segment)


def _segment(options: argparse.Namespace) -> None:
    from babywalk.instructions.identification import IdentificationConfig
    from babywalk.instructions.segmenting import segment
    from babywalk.instructions.tagging import load_tagger

    text = sys.stdin.read() if options.text == "-" else options.text
    config = IdentificationConfig(
        mode=options.mode,
        reading=options.reading,
        max_steps=options.max_steps,
        size=options.size,
        lists=_lists(options),
    )
    steps = segment(text, config, tagger=load_tagger(options.tagger))
    if options.json:
        print_json([asdict(step) for step in steps])
        return
    if not steps:
        raise ConfigError("The instruction has no words.")
    for number, step in enumerate(steps, start=1):
        print_line(f"{number}  {step.text}")
        print_line(f"   landmarks: {', '.join(step.landmarks) or '-'}; verbs: {', '.join(step.verbs) or '-'}")
