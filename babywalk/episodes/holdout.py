"""Holding out: training houses as if nobody had seen them, to choose by instead of the true unseen ones.

val_seen has new walks in houses that the agent knows, and so prefers whoever knows its houses by heart. What
will do well in new houses can only be seen in houses that were kept out of training. The directory made here
has the splits of any other, so every command works on it as it stands: `train` and `val_seen` without the
houses held out, and as `val_unseen` the training walks of these. The true val_unseen and test are not in it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from babywalk.assets.data_directory import (
    CONNECTIVITY,
    FEATURES,
    PLANS,
    WALKS,
    WORD_VECTORS,
    component,
    read_manifest,
)
from babywalk.assets.r2r import Walk, r2r_file, read_walks, write_walks
from babywalk.common.errors import ConfigError
from babywalk.common.files import atomic_folder
from babywalk.common.seeding import generator
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.importing import Imported

_CARRIED = (CONNECTIVITY, FEATURES, WORD_VECTORS, PLANS)  # what does not depend on which walks are whose


def hold_out(source: Path, folder: Path, houses: int, *, seed: int = 0) -> Imported:
    """Write a data directory in which a seeded draw of training houses is unseen."""
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder}: is not empty. Give a new folder for the data.")
    dataset = Dataset(source)
    for split in ("train", "val_seen"):
        dataset.walks(split)  # says which splits there are, where one is missing
    train, val_seen = (read_walks(r2r_file(source / WALKS, split)) for split in ("train", "val_seen"))
    scans = sorted({walk.scan for walk in train})
    if not 0 < houses < len(scans):
        raise ConfigError(
            f"{houses} houses cannot be held out of the {len(scans)} of training in {source}. "
            f"Give 1 to {len(scans) - 1}."
        )
    out = frozenset(generator(seed, "hold out", houses).choice(scans, houses, replace=False).tolist())
    splits = {
        "train": [walk for walk in train if walk.scan not in out],
        "val_seen": [walk for walk in val_seen if walk.scan not in out],
        "val_unseen": [walk for walk in train if walk.scan in out],
    }
    with atomic_folder(folder) as target:
        for name in _CARRIED:
            if (source / name).is_dir():
                shutil.copytree(source / name, target / name)
        manifest = read_manifest(source / WALKS)
        facts = {"held_out": sorted(out), "seed": seed}
        with component(
            target / WALKS, "described walks", notes=manifest.strings("notes"), details=facts
        ) as draft:
            for split, walks in splits.items():
                write_walks(r2r_file(draft.folder, split), walks)
    return Imported(folder, tuple(_lines(splits)))


def _lines(splits: dict[str, list[Walk]]) -> Iterator[str]:
    for split, walks in splits.items():
        texts = sum(len(walk.instructions) for walk in walks)
        scans = len({walk.scan for walk in walks})
        plural = "" if scans == 1 else "s"
        yield f"r2r {split}: {texts:,} instructions of {len(walks):,} paths in {scans:,} house{plural}"
