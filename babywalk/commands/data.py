"""Data directories: create, import, download, verify, describe and export them.

`import_data`, `hold_out`, `fetch` and `verify` are commands as they are in the packages below.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from babywalk.assets.catalogue import ASSETS, fetch
from babywalk.assets.data_directory import RAW, component, verify
from babywalk.assets.dollhouse import DollhouseConfig, write_dollhouse
from babywalk.assets.r2r import write_walks
from babywalk.common.errors import ConfigError
from babywalk.common.files import atomic_folder, write_json
from babywalk.common.progress import progress
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.holdout import hold_out
from babywalk.episodes.importing import ImportReport, RawFiles, import_data, import_into
from babywalk.episodes.joining import TASKS
from babywalk.episodes.statistics import Statistics, lengths, statistics
from babywalk.episodes.task import Task
from babywalk.evaluation.figures.charts import draw_lengths
from babywalk.evaluation.figures.style import save
from babywalk.instructions.babysteps import walks_with_steps
from babywalk.instructions.identification import IdentificationConfig
from babywalk.instructions.store import aligned_steps

__all__ = [
    "ASSETS",
    "RawFiles",
    "build_tasks",
    "data_statistics",
    "export_task",
    "fetch",
    "hold_out",
    "import_data",
    "make_dollhouse",
    "verify",
]

_BUILT_IN = ("Made by BabyWalk's Dollhouse: free of any licence.",)


def make_dollhouse(folder: Path, config: DollhouseConfig, *, precision: str = "float16") -> ImportReport:
    """Write the built-in data set and import it with the same readers as any other."""
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder}: is not empty. Give a new folder for the Dollhouse.")
    with atomic_folder(folder) as target:
        with component(target / RAW, f"Dollhouse, raw files: {config}", notes=_BUILT_IN) as draft:
            write_dollhouse(draft.folder, config)
        raw = target / RAW
        files = RawFiles(
            connectivity=raw / "connectivity",
            r2r=raw / "R2R",
            boxes=raw / "BBox",
            categories=raw / "category_mapping.tsv",
            rooms=raw / "rooms",
            features=tuple((file.stem, file) for file in sorted((raw / "features").glob("*.tsv"))),
            fine_grained=raw / "fgr2r",
            plans=raw / "plans",
        )
        lines = list(import_into(target, files, precision=precision, notes=_BUILT_IN))
        dataset = Dataset(target)
        for name in TASKS:
            for split in _with_goals(dataset):
                if TASKS[name].walks > 1:
                    task = dataset.build(name, split)
                    lines.append(f"{name} {split}: {len(task):,} instructions")
    return ImportReport(folder, tuple(lines))


def build_tasks(
    folder: Path, names: Sequence[str], splits: Sequence[str] | None, *, full: bool, seed: int
) -> list[Task]:
    """Join walks into tasks, for every split with goals by default, and store them in the data directory."""
    dataset = Dataset(folder)
    wanted = splits or _with_goals(dataset)
    return [dataset.build(name, split, full=full, seed=seed) for name in names for split in wanted]


def data_statistics(folder: Path, *, figure: Path | None = None) -> Statistics:
    """The statistics of a data directory; with `figure`, plot the lengths of instructions and paths."""
    dataset = Dataset(folder)
    if figure:
        split = "train" if "train" in dataset.splits else dataset.splits[0]
        tasks = {name: lengths(dataset.task(name, split)) for name in TASKS if dataset.has(name, split)}
        save(draw_lengths(tasks), figure)
    return statistics(dataset)


def export_task(
    folder: Path, name: str, split: str, file: Path, *, seed: int = 0, steps: bool = False
) -> int:
    """Write a task in the community's JSON format; returns the number of instructions.

    With `steps`, each walk also lists its Baby-Steps: sub-instructions, sub-paths and start headings.
    """
    dataset = Dataset(folder)
    task = dataset.task(name, split, seed=seed)
    walks = progress(task.as_walks(), "Writing", total=len(task.chains_used), unit="path")
    if not steps:
        write_walks(file, walks)
        return len(task)
    found, _ = aligned_steps(dataset, task, IdentificationConfig())
    write_json(file, list(walks_with_steps(found)), indent=None)
    return len(task)


def _with_goals(dataset: Dataset) -> list[str]:
    """The splits whose walks have goals."""
    return [split for split in dataset.splits if dataset.walks(split).has_goals]
