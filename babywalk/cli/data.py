"""Commands that create and describe data directories: `babywalk data ...`.

Every command is imported when it is called, so that help and argument errors appear at once.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from babywalk.cli.options import (
    add_data,
    add_json,
    add_seed,
    add_split,
    add_splits,
    command,
    named_file,
    print_json,
    print_line,
    shell_quoted,
    table_cell,
)
from babywalk.common.errors import ConfigError, shortlist


def add_commands(commands: Any) -> None:
    """Add the commands to the parser."""
    _add_dollhouse(commands)
    _add_import(commands)
    _add_build(commands)
    _add_hold_out(commands)
    _add_stats(commands)
    _add_export(commands)
    _add_fetch(commands)
    _add_verify(commands)


def _add_dollhouse(commands: Any) -> None:
    dollhouse = command(
        commands,
        "dollhouse",
        "write a complete synthetic data set: houses, views, walks, instructions",
        "babywalk data dollhouse demo/data",
        "babywalk data dollhouse small --houses 4 --seed 7",
    )
    dollhouse.add_argument("folder", type=Path, metavar="DIR", help="new folder for the data")
    dollhouse.add_argument("--houses", type=int, default=30, metavar="N", help="houses (default: 30)")
    dollhouse.add_argument(
        "--width", type=int, default=64, metavar="D", help="features per view (default: 64)"
    )
    add_seed(dollhouse)
    add_json(dollhouse)
    dollhouse.set_defaults(run_command=_dollhouse)


def _dollhouse(options: argparse.Namespace) -> None:
    from babywalk.assets.dollhouse import DollhouseConfig
    from babywalk.commands.data import make_dollhouse

    config = DollhouseConfig(houses=options.houses, seed=options.seed, width=options.width)
    made = make_dollhouse(options.folder, config)
    _print_imported(made, options, "babywalk data stats")


def _add_import(commands: Any) -> None:
    importing = command(
        commands,
        "import",
        "convert raw files into a data directory, or add them to one",
        "babywalk data import --connectivity raw/connectivity --r2r raw/R2R data",
        "babywalk data import --boxes raw/BBox --rooms raw/rooms data",
        "babywalk data import --features resnet=raw/ResNet-152-imagenet.tsv data",
        "babywalk data import --glove raw/train_vocab.txt raw/train_glove.npy data",
    )
    importing.add_argument(
        "folder", type=Path, nargs="?", metavar="DIR", help="data directory, new or existing"
    )
    for flag, what in (
        ("--connectivity", "folder of <scan>_connectivity.json"),
        ("--r2r", "folder of R2R_<split>.json"),
        ("--boxes", "folder of <scan>_<viewpoint>.json object boxes, for the 'objects' features"),
        ("--rooms", "folder of *_room_pano_{image,label}.txt room classes, used with --boxes"),
        ("--fine-grained", "folder of FGR2R_<split>.json sub-instructions"),
    ):
        importing.add_argument(flag, type=Path, metavar="DIR", help=what)
    importing.add_argument(
        "--categories",
        type=Path,
        metavar="TSV",
        help="object name to group (default: category_mapping.tsv in or beside the boxes)",
    )
    importing.add_argument(
        "--features",
        nargs="+",
        action="extend",
        default=[],
        metavar="[NAME=]TSV",
        help="view features; the name defaults to that of the file",
    )
    importing.add_argument(
        "--glove", type=Path, nargs=2, metavar=("VOCAB", "NPY"), help="words and their vectors"
    )
    importing.add_argument(
        "--precision", default="float16", help="of stored features: float16 (default) or float32"
    )
    add_json(importing)
    importing.set_defaults(run_command=_import)


def _import(options: argparse.Namespace) -> None:
    from babywalk.commands.data import RawFiles, import_data

    if options.folder is None:
        # --features takes every argument that follows it, including DIR.
        if not options.features:
            raise ConfigError("No data directory is given: babywalk data import ... DIR.")
        options.folder = Path(options.features.pop())
    raw = RawFiles(
        connectivity=options.connectivity,
        r2r=options.r2r,
        boxes=options.boxes,
        categories=options.categories,
        rooms=options.rooms,
        features=tuple(named_file(text) for text in options.features),
        glove=tuple(options.glove) if options.glove else None,
        fine_grained=options.fine_grained,
    )
    made = import_data(raw, options.folder, precision=options.precision)
    _print_imported(made, options, "babywalk data build r4r r6r r8r")


def _print_imported(made: Any, options: argparse.Namespace, next_command: str) -> None:
    if options.json:
        print_json(asdict(made))
        return
    for line in made.lines:
        print_line(f"  {line}")
    print_line(f"The data are in {made.folder}. Next: {next_command} --data {shell_quoted(made.folder)}")


def _add_build(commands: Any) -> None:
    build = command(
        commands,
        "build",
        "join R2R walks into longer tasks: r4r, r6r, r8r",
        "babywalk data build r4r r6r r8r --data data",
        "babywalk data build r8r --data data --splits val_unseen --all",
    )
    build.add_argument("tasks", nargs="+", metavar="TASK", help="r4r, r6r or r8r")
    add_data(build)
    add_splits(build, "every split with goals")
    build.add_argument(
        "--all",
        dest="full",
        action="store_true",
        help="keep every combination instead of a seeded sample of the published size",
    )
    add_seed(build)
    add_json(build)
    build.set_defaults(run_command=_build)


def _build(options: argparse.Namespace) -> None:
    from babywalk.commands.data import build_tasks
    from babywalk.common.tables import table

    tasks = build_tasks(options.data, options.tasks, options.splits, full=options.full, seed=options.seed)
    rows = [
        {
            "task": task.name,
            "split": task.split,
            "instructions": len(task),
            "paths": len(task.chains_used),
            "of": task.full_size,
            "draw": task.draw,
        }
        for task in tasks
    ]
    if options.json:
        print_json(rows)
        return
    header = ["task", "split", "instructions", "paths", "of", "draw"]
    cells = [["-" if row[name] is None else table_cell(row[name]) for name in header] for row in rows]
    print_line(table(header, cells))
    print_line(f"Next: babywalk data stats --data {shell_quoted(options.data)}")


def _add_hold_out(commands: Any) -> None:
    hold_out = command(
        commands,
        "hold-out",
        "copy a data directory with held-out training houses as its val_unseen, for model selection",
        "babywalk data hold-out --houses 12 --data data dev",
        "babywalk data hold-out --houses 12 --seed 1 --data data dev-1",
    )
    hold_out.add_argument("folder", type=Path, metavar="DIR", help="new folder for the copy")
    hold_out.add_argument(
        "--houses", type=int, default=12, metavar="N", help="training houses to hold out (default: 12)"
    )
    add_data(hold_out)
    add_seed(hold_out)
    add_json(hold_out)
    hold_out.set_defaults(run_command=_hold_out)


def _hold_out(options: argparse.Namespace) -> None:
    from babywalk.commands.data import hold_out

    made = hold_out(options.data, options.folder, options.houses, seed=options.seed)
    _print_imported(made, options, "babywalk data build r4r r6r r8r")


def _add_stats(commands: Any) -> None:
    stats = command(
        commands,
        "stats",
        "print the paper's table of data statistics for a data directory",
        "babywalk data stats --data data",
        "babywalk data stats --data data --figure lengths.png",
    )
    add_data(stats)
    stats.add_argument(
        "--figure",
        type=Path,
        metavar="FILE",
        help="plot the lengths of instructions and paths (png, svg or pdf)",
    )
    add_json(stats)
    stats.set_defaults(run_command=_stats)


def _stats(options: argparse.Namespace) -> None:
    from babywalk.commands.data import data_statistics
    from babywalk.commands.segment import step_counts
    from babywalk.evaluation.tables import data_table, step_table

    found = data_statistics(options.data, figure=options.figure)
    steps = step_counts(options.data)
    if options.json:
        print_json({**asdict(found), "babysteps": steps})
        return
    print_line(data_table(found))
    print_line(
        "\n" + step_table(steps)
        if steps
        else f"Baby-Steps: babywalk data segment --data {shell_quoted(options.data)}"
    )
    if options.figure:
        print_line(f"The lengths are plotted in {options.figure}")


def _add_export(commands: Any) -> None:
    export = command(
        commands,
        "export",
        "write a task in the community's JSON format, which other VLN code reads",
        "babywalk data export r4r --data data --split val_unseen R4R_val_unseen.json",
        "babywalk data export r8r --data data --split train:1000 small.json",
    )
    export.add_argument("task", metavar="TASK", help="r2r, r4r, r6r or r8r")
    export.add_argument("file", type=Path, metavar="FILE.json", help="file to write")
    add_data(export)
    add_split(export)
    add_seed(export)
    export.add_argument(
        "--steps", action="store_true", help="add the Baby-Steps: sub-instructions, sub-paths, headings"
    )
    export.set_defaults(run_command=_export)


def _export(options: argparse.Namespace) -> None:
    from babywalk.commands.data import export_task

    count = export_task(
        options.data, options.task, options.split, options.file, seed=options.seed, steps=options.steps
    )
    print_line(f"{count:,} instructions in {options.file}")


def _add_fetch(commands: Any) -> None:
    fetch = command(
        commands,
        "fetch",
        "list the data that can be downloaded from its publishers, or download it",
        "babywalk data fetch",
        "babywalk data fetch connectivity r2r --to raw",
        "babywalk data fetch boxes --to raw --accept-terms",
    )
    fetch.add_argument("names", nargs="*", metavar="NAME", help="what to download (default: list all)")
    fetch.add_argument(
        "--to", type=Path, default=Path("raw"), metavar="DIR", help="download folder (default: raw)"
    )
    fetch.add_argument("--accept-terms", action="store_true", help="accept the publishers' terms of use")
    add_json(fetch)
    fetch.set_defaults(run_command=_fetch)


def _fetch(options: argparse.Namespace) -> None:
    from babywalk.commands.data import ASSETS, fetch
    from babywalk.common.tables import format_bytes, table

    if options.names:
        files = fetch(options.names, options.to, accept_terms=options.accept_terms)
        if options.json:
            print_json([str(file) for file in files])
        else:
            print_line("\n".join(f"  {file}" for file in files))
            print_line("Next: babywalk data import --help")
        return
    if options.json:
        print_json([asdict(asset) for asset in ASSETS.values()])
        return
    rows = [
        [
            asset.name,
            format_bytes(asset.size) if asset.size else "?",
            "yes" if asset.terms else "",
            f"  {asset.licence}",
        ]
        for asset in ASSETS.values()
    ]
    print_line(table(["name", "size", "terms", "  licence"], rows))
    for asset in ASSETS.values():
        print_line(f"  {asset.name}: {asset.what}")
    print_line("Download with: babywalk data fetch NAME ... --to raw   (--accept-terms where terms say yes)")


def _add_verify(commands: Any) -> None:
    verify = command(
        commands,
        "verify",
        "check every file of a data directory against its manifest",
        "babywalk data verify data",
    )
    verify.add_argument("folder", type=Path, metavar="DIR", help="data directory")
    add_json(verify)
    verify.set_defaults(run_command=_verify)


def _verify(options: argparse.Namespace) -> None:
    from babywalk.commands.data import verify
    from babywalk.common.tables import format_bytes

    found = verify(options.folder)
    if options.json:
        print_json(asdict(found))
    else:
        print_line(f"{found.files:,} files in {found.components:,} components, {format_bytes(found.bytes)}")
    if found.findings:
        listed = shortlist(f"{finding.file} {finding.problem}" for finding in found.findings)
        raise ConfigError(f"{len(found.findings):,} files differ from their manifests: {listed}.")
    if not options.json:
        print_line("All files match their manifests.")
