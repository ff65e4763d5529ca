"""Commands about data: `babywalk data ...`.

Recipes are imported where they are used: help and errors in arguments answer at once.
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
    command,
    named_file,
    print_json,
    print_line,
    shell_quoted,
    table_cell,
)
from babywalk.common.errors import ConfigError


def add_commands(commands: Any) -> None:
    """Declare them."""
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
        "babywalk data dollhouse /tmp/small --houses 4 --seed 7",
    )
    dollhouse.add_argument("folder", type=Path, metavar="DIR", help="a new folder for the data")
    dollhouse.add_argument(
        "--houses", type=int, default=30, metavar="N", help="how many houses (default: 30)"
    )
    dollhouse.add_argument(
        "--width", type=int, default=64, metavar="D", help="numbers per view (default: 64)"
    )
    add_seed(dollhouse)
    add_json(dollhouse)
    dollhouse.set_defaults(run_command=_data_dollhouse)


def _data_dollhouse(options: argparse.Namespace) -> None:
    from babywalk.assets.dollhouse import DollhouseConfig
    from babywalk.commands.data import make_dollhouse

    config = DollhouseConfig(houses=options.houses, seed=options.seed, width=options.width)
    made = make_dollhouse(options.folder, config)
    _say_imported(made, options, f"babywalk data stats --data {options.folder}")


def _add_import(commands: Any) -> None:
    imported = command(
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
        action="extend",
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
    add_json(imported)
    imported.set_defaults(run_command=_data_import)


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
        features=tuple(named_file(text) for text in options.features),
        glove=tuple(options.glove) if options.glove else None,
        fine_grained=options.fine_grained,
    )
    made = import_data(raw, options.folder, precision=options.precision)
    _say_imported(made, options, f"babywalk data build r4r r6r r8r --data {options.folder}")


def _say_imported(made: Any, options: argparse.Namespace, then: str) -> None:
    if options.json:
        print_json(asdict(made))
        return
    for line in made.lines:
        print_line(f"  {line}")
    print_line(f"The data are in {made.folder}. Next: {then}")


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
    build.add_argument(
        "--splits", nargs="+", action="extend", metavar="SPLIT", help="default: every split with goals"
    )
    build.add_argument(
        "--all",
        dest="full",
        action="store_true",
        help="keep every combination, instead of a seeded draw to the published size",
    )
    add_seed(build)
    add_json(build)
    build.set_defaults(run_command=_data_build)


def _data_build(options: argparse.Namespace) -> None:
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
        }
        for task in tasks
    ]
    if options.json:
        print_json(rows)
        return
    header = ["task", "split", "instructions", "paths", "of"]
    print_line(table(header, [[table_cell(row[name]) for name in header] for row in rows]))
    print_line(f"Next: babywalk data stats --data {shell_quoted(options.data)}")


def _add_hold_out(commands: Any) -> None:
    hold_out = command(
        commands,
        "hold-out",
        "copy a data directory with training houses kept out as its val_unseen, to choose settings by",
        "babywalk data hold-out --houses 12 --data data dev",
        "babywalk data hold-out --houses 12 --seed 1 --data data dev-1",
    )
    hold_out.add_argument("folder", type=Path, metavar="DIR", help="a new folder for the copy")
    hold_out.add_argument(
        "--houses", type=int, default=12, metavar="N", help="how many training houses (default: 12)"
    )
    add_data(hold_out)
    add_seed(hold_out)
    add_json(hold_out)
    hold_out.set_defaults(run_command=_data_hold_out)


def _data_hold_out(options: argparse.Namespace) -> None:
    from babywalk.episodes.holdout import hold_out

    made = hold_out(options.data, options.folder, options.houses, seed=options.seed)
    _say_imported(made, options, f"babywalk data build r4r r6r r8r --data {options.folder}")


def _add_stats(commands: Any) -> None:
    stats = command(
        commands,
        "stats",
        "print the data table of the paper for a data directory",
        "babywalk data stats --data data",
        "babywalk data stats --data data --figure lengths.png",
    )
    add_data(stats)
    stats.add_argument(
        "--figure",
        type=Path,
        metavar="FILE",
        help="draw the lengths of instructions and paths (png, svg, pdf)",
    )
    add_json(stats)
    stats.set_defaults(run_command=_data_stats)


def _data_stats(options: argparse.Namespace) -> None:
    from babywalk.commands.data import data_statistics, step_counts
    from babywalk.evaluation.data_table import data_table, step_table

    found = data_statistics(options.data, figure=options.figure)
    steps = step_counts(options.data)
    if options.json:
        print_json({**asdict(found), "babysteps": steps})
        return
    print_line(data_table(found))
    print_line(
        "\n" + step_table(steps) if steps else f"Baby-Steps: babywalk data segment --data {options.data}"
    )
    if options.figure:
        print_line(f"The distributions of lengths are drawn in {options.figure}")


def _add_export(commands: Any) -> None:
    export = command(
        commands,
        "export",
        "write a task in the community's JSON format, which other VLN code reads",
        "babywalk data export r4r --data data --split val_unseen R4R_val_unseen.json",
        "babywalk data export r8r --data data --split train:1000 small.json",
    )
    export.add_argument("task", metavar="TASK", help="r2r, r4r, r6r or r8r")
    export.add_argument("file", type=Path, metavar="FILE.json")
    add_data(export)
    add_split(export)
    add_seed(export)
    export.add_argument(
        "--steps", action="store_true", help="with the Baby-Steps: sub-instructions, sub-paths, headings"
    )
    export.set_defaults(run_command=_data_export)


def _data_export(options: argparse.Namespace) -> None:
    from babywalk.commands.data import export_task

    count = export_task(
        options.data, options.task, options.split, options.file, seed=options.seed, steps=options.steps
    )
    print_line(f"{count:,} instructions in {options.file}")


def _add_fetch(commands: Any) -> None:
    fetch = command(
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
    add_json(fetch)
    fetch.set_defaults(run_command=_data_fetch)


def _data_fetch(options: argparse.Namespace) -> None:
    from babywalk.assets.catalogue import ASSETS
    from babywalk.assets.fetch import fetch
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
    verify.add_argument("folder", type=Path, metavar="DIR")
    add_json(verify)
    verify.set_defaults(run_command=_data_verify)


def _data_verify(options: argparse.Namespace) -> None:
    from babywalk.assets.manifest import verify
    from babywalk.common.tables import format_bytes

    found = verify(options.folder)
    if options.json:
        print_json(asdict(found))
    else:
        print_line(f"{found.files:,} files in {found.components:,} components, {format_bytes(found.bytes)}")
    if found.findings:
        listed = "; ".join(f"{finding.file} {finding.problem}" for finding in found.findings[:3])
        more = f" (and {len(found.findings) - 3:,} more)" if len(found.findings) > 3 else ""
        raise ConfigError(f"{len(found.findings):,} files are not as their manifests say: {listed}{more}.")
    if not options.json:
        print_line("Every file is as its manifest says.")
