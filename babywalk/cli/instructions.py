"""Commands on instructions: segmentation into Baby-Steps, landmarks, alignment with paths, augmentation."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from babywalk.cli.options import (
    add_data,
    add_features,
    add_json,
    add_seed,
    add_settings,
    add_splits,
    add_tagger,
    add_text,
    add_threads,
    command,
    degrees,
    print_json,
    print_line,
    shell_quoted,
    table_cell,
)
from babywalk.common.errors import ConfigError


def add_data_commands(commands: Any) -> None:
    """Add the commands on whole data directories."""
    _add_segment_data(commands)
    _add_landmarks(commands)
    _add_align(commands)
    _add_speaker(commands)
    _add_augment(commands)


def add_segment(commands: Any) -> None:
    """Add `babywalk segment`, for one instruction."""
    segment = command(
        commands,
        "segment",
        "segment one instruction into Baby-Steps and mark its landmarks",
        'babywalk segment "Walk past the couch and go up the stairs. Stop by the bed."',
        'babywalk segment --mode sentence "Turn left. Go to the door. Wait."',
    )
    add_text(segment, "the instruction, or - to read it from standard input")
    segment.add_argument("--mode", default="template", help="template (the six rules, default) or sentence")
    segment.add_argument(
        "--reading",
        default="either",
        help="which sentences rule 5 merges: those that lack landmarks and verbs (both), landmarks or verbs "
        "(either, the default), or the same with go and take not counted as verbs (either-strict)",
    )
    segment.add_argument(
        "--max-steps", type=int, default=0, metavar="N", help="at most N steps (default: no limit)"
    )
    segment.add_argument(
        "--size", type=int, default=0, metavar="N", help="join steps into ones of about N characters"
    )
    add_tagger(segment)
    _add_word_lists(segment)
    add_json(segment)
    segment.set_defaults(run_command=_segment)


def _segment(options: argparse.Namespace) -> None:
    from babywalk.commands.segment import segment_instruction
    from babywalk.instructions.identification import IdentificationConfig

    config = IdentificationConfig(
        mode=options.mode,
        reading=options.reading,
        max_steps=options.max_steps,
        size=options.size,
        lists=_word_lists(options),
    )
    text = sys.stdin.read() if options.text == "-" else options.text
    steps = segment_instruction(text, config, tagger=options.tagger)
    if options.json:
        print_json([asdict(step) for step in steps])
        return
    if not steps:
        raise ConfigError("The instruction has no words.")
    for number, step in enumerate(steps, start=1):
        print_line(f"{number}  {step.text}")
        print_line(f"   landmarks: {', '.join(step.landmarks) or '-'}; verbs: {', '.join(step.verbs) or '-'}")


def _add_word_lists(parser: argparse.ArgumentParser) -> None:
    what = 'replace word lists of the rules, as in \'verb_blacklist=["turn","face"]\''
    add_settings(parser, what, metavar="LIST=WORDS")


def _word_lists(options: argparse.Namespace) -> Any:
    from babywalk.common.config import from_assignments, from_table
    from babywalk.instructions.sentences import WordLists

    return from_table(WordLists, from_assignments(options.set), where="--set")


def _add_segment_data(commands: Any) -> None:
    segment = command(
        commands,
        "segment",
        "segment the instructions of a data directory into Baby-Steps",
        "babywalk data segment --data data",
        "babywalk data segment --data data --splits val_seen --tagger en_core_web_sm",
        "babywalk data segment --data data --check val_seen",
    )
    add_data(segment)
    add_splits(segment, "all")
    segment.add_argument(
        "--check", metavar="SPLIT", help="compare with the annotated sub-instructions of a split instead"
    )
    add_tagger(segment)
    _add_word_lists(segment)
    segment.add_argument("--workers", type=int, default=2, metavar="N", help="processes (default: 2)")
    add_json(segment)
    segment.set_defaults(run_command=_segment_data)


def _segment_data(options: argparse.Namespace) -> None:
    from babywalk.commands.segment import check_segments, segment_data
    from babywalk.common.tables import table

    if options.check:
        agreements = check_segments(options.data, options.check)
        if options.json:
            print_json({label: asdict(counts) for label, counts in agreements.items()})
            return
        lines = [
            [label, f"{counts.ours:,}", f"{counts.theirs:,}", f"{counts.both:,}"]
            + [f"{100 * share:.1f}" for share in (counts.precision, counts.recall, counts.f1)]
            for label, counts in agreements.items()
        ]
        header = [f"boundaries in {options.check}", "ours", "theirs", "both", "precision", "recall", "F1"]
        print_line(table(header, lines))
        return
    found = segment_data(
        options.data,
        options.splits,
        lists=_word_lists(options),
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
    add_threads(landmarks)
    add_json(landmarks)
    landmarks.set_defaults(run_command=_landmarks)


def _landmarks(options: argparse.Namespace) -> None:
    from babywalk.commands.align import train_landmark_classifier
    from babywalk.common.tables import table

    report = train_landmark_classifier(options.data, options.features)
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
        "find the part of the path that each Baby-Step describes",
        "babywalk data align r2r r4r --data data",
        "babywalk data align r4r --data data --method proportional",
        "babywalk data align --data data --check val_seen",
    )
    align.add_argument("tasks", nargs="*", metavar="TASK", help="r2r, r4r, r6r or r8r")
    add_data(align)
    add_splits(align, "train")
    align.add_argument("--method", default="best", help="best (learned, default), paper or proportional")
    align.add_argument(
        "--joints", action="store_true", help="give method 'best' the viewpoints where walks were joined"
    )
    align.add_argument(
        "--check", metavar="SPLIT", help="compare all methods with annotated sub-instructions instead"
    )
    add_features(align)
    add_threads(align)
    add_json(align)
    align.set_defaults(run_command=_align)


def _align(options: argparse.Namespace) -> None:
    from babywalk.commands.align import align_data, compare_alignments
    from babywalk.common.tables import table

    if options.check:
        accuracies = compare_alignments(options.data, options.check, options.features)
        if options.json:
            print_json({method: asdict(accuracy) for method, accuracy in accuracies.items()})
            return
        rows = [
            [method, f"{100 * found.exact:.1f}", f"{100 * found.within_one:.1f}", f"{found.ends:,}"]
            for method, found in accuracies.items()
        ]
        print_line(table([f"ends in {options.check}", "exact %", "within one %", "ends"], rows))
        return
    if not options.tasks:
        raise ConfigError("No task is given. Give one or more of r2r, r4r, r6r, r8r; or --check SPLIT.")
    found = align_data(
        options.data,
        options.tasks,
        options.splits,
        method=options.method,
        features=options.features,
        joints=options.joints,
    )
    rows = [
        [steps.task.name, steps.task.split, f"{len(steps):,}", f"{len(steps.sentences.values):,}"]
        for steps in found
    ]
    if options.json:
        print_json(rows)
        return
    print_line(table(["task", "split", "instructions", "steps"], rows))
    data, task = shell_quoted(options.data), options.tasks[0]
    print_line(f"Next: babywalk train babywalk --data {data} --task {task} --run runs/babywalk")


def _add_speaker(commands: Any) -> None:
    speaker = command(
        commands,
        "speaker",
        "train the speaker, which describes paths, and measure its texts",
        "babywalk data speaker --data data",
        "babywalk data speaker --data data --features resnet --set epochs=20",
        "babywalk data speaker --data data --splits val_unseen --follower runs/seq2seq",
    )
    add_data(speaker)
    add_splits(speaker, "val_seen val_unseen")
    speaker.add_argument(
        "--follower",
        type=Path,
        metavar="RUN",
        help="also compare how an agent follows the speaker's texts and the human ones",
    )
    add_settings(speaker, "settings of the speaker, as in epochs=20")
    add_features(speaker)
    add_threads(speaker)
    add_json(speaker)
    speaker.set_defaults(run_command=_speaker)


def _speaker(options: argparse.Namespace) -> None:
    from babywalk.commands.speaker import report_speaker
    from babywalk.common.config import from_assignments
    from babywalk.common.tables import table

    found = report_speaker(
        options.data,
        features=options.features,
        settings=from_assignments(options.set),
        splits=options.splits,
        follower=options.follower,
    )
    if options.json:
        print_json([asdict(quality) for quality in found])
        return
    header, rows = ["split", "paths", "perplexity", "BLEU-4", "words", "human words"], []
    for quality in found:
        numbers = (quality.perplexity, quality.bleu, quality.words, quality.human_words)
        rows.append([quality.split, f"{quality.paths:,}", *(f"{number:.1f}" for number in numbers)])
        for texts, measures in (("human", quality.on_human_texts), ("speaker", quality.on_speaker_texts)):
            rows[-1] += [f"{100 * value:.1f}" for value in (measures or {}).values()]
            if quality is found[0]:
                header += [f"{name} on {texts} texts" for name in measures or {}]
    print_line(table(header, rows))
    for text in found[-1].examples if found else ():
        print_line(f"  {text}")
    print_line(f"Next: babywalk data augment --data {shell_quoted(options.data)}")


def _add_augment(commands: Any) -> None:
    augment = command(
        commands,
        "augment",
        "sample new walks in the training houses and let a speaker describe them, as a split to train on",
        "babywalk data augment --data data",
        "babywalk data augment --data data --walks 40000 --split drawn --temperature 0.5 --seed 1",
        "babywalk data augment --data data --split checked --retraced-by runs/seq2seq --min-ndtw 0.6",
    )
    add_data(augment)
    augment.add_argument(
        "--walks", type=int, default=20_000, metavar="N", help="at most N walks (default: 20,000)"
    )
    augment.add_argument(
        "--split", default="augmented", metavar="NAME", help="name of the new split (default: augmented)"
    )
    augment.add_argument(
        "--temperature",
        type=float,
        default=0.0,
        metavar="T",
        help="for sampling words (default: 0, the most likely word)",
    )
    augment.add_argument(
        "--retraced-by",
        type=Path,
        metavar="RUN",
        help="keep only walks that an agent walks again by their description",
    )
    augment.add_argument(
        "--min-ndtw",
        type=float,
        default=0.5,
        metavar="X",
        help="with --retraced-by: how close it must come, 0 to 1 (default: 0.5)",
    )
    add_settings(augment, "settings of the speaker, as in epochs=20")
    add_features(augment)
    add_seed(augment)
    add_threads(augment)
    add_json(augment)
    augment.set_defaults(run_command=_augment)


def _augment(options: argparse.Namespace) -> None:
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
        retraced_by=options.retraced_by,
        min_ndtw=options.min_ndtw,
    )
    if options.json:
        print_json(asdict(made))
        return
    for text in made.examples:
        print_line(f"  {text}")
    if options.retraced_by:
        print_line(f"Walked again by the agent: {made.walks:,} of {made.sampled:,} walks.")
    data = shell_quoted(options.data)
    print_line(
        f"{made.walks:,} described walks in the split {made.split}. "
        f"Next: babywalk data segment --data {data} --splits {made.split} && "
        f"babywalk data align r2r --data {data} --splits {made.split}"
    )


def add_describe(commands: Any) -> None:
    """Add `babywalk describe`, for one path."""
    describe = command(
        commands,
        "describe",
        "describe a path with the speaker of a data directory",
        "babywalk describe --data demo/data --house dollhouse_025 --path d025-v017 d025-v016 d025-v009",
    )
    add_data(describe)
    describe.add_argument("--house", required=True, metavar="SCAN", help="the house, as dollhouse_025")
    describe.add_argument(
        "--path",
        required=True,
        nargs="+",
        metavar="ID",
        help="viewpoints, each next to the one before",
    )
    describe.add_argument(
        "--heading",
        type=degrees,
        default=0.0,
        metavar="DEGREES",
        help="start heading, -360 to 360: 0 is north (default), 90 east",
    )
    add_threads(describe)
    add_json(describe)
    describe.set_defaults(run_command=_describe)


def _describe(options: argparse.Namespace) -> None:
    from babywalk.commands.speaker import describe_path

    found = describe_path(options.data, options.house, options.path, degrees=options.heading)
    if options.json:
        print_json(asdict(found))
        return
    print_line(found.text)
