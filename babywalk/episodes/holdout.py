"""Held-out training houses, for model selection without the true val_unseen.

val_seen has new walks in training houses and rewards memorising them; generalisation to new houses can only
be measured in held-out houses. The new data directory has the usual splits, so every command works on it:
`train` and `val_seen` without the held-out houses, and as `val_unseen` the training walks of the held-out
houses. The true val_unseen and test are not in it.
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
from babywalk.episodes.importing import ImportReport

_COPIED = (CONNECTIVITY, FEATURES, WORD_VECTORS, PLANS)  # components that do not depend on the splits


def hold_out(source: Path, folder: Path, houses: int, *, seed: int = 0) -> ImportReport:
    """Write a data directory in which `houses` random training houses are unseen."""
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder}: is not empty. Give a new folder.")
    dataset = Dataset(source)
    for split in ("train", "val_seen"):
        dataset.walks(split)  # raises if the split is missing
    train, val_seen = (read_walks(r2r_file(source / WALKS, split)) for split in ("train", "val_seen"))
    scans = sorted({walk.scan for walk in train})
    if not 0 < houses < len(scans):
        raise ConfigError(
            f"houses = {houses} is out of range; {source} has {len(scans)} training houses, "
            f"so 1 to {len(scans) - 1} can be held out."
        )
    out = frozenset(generator(seed, "hold out", houses).choice(scans, houses, replace=False).tolist())
    splits = {
        "train": [walk for walk in train if walk.scan not in out],
        "val_seen": [walk for walk in val_seen if walk.scan not in out],
        "val_unseen": [walk for walk in train if walk.scan in out],
    }
    with atomic_folder(folder) as target:
        for name in _COPIED:
            if (source / name).is_dir():
                shutil.copytree(source / name, target / name)
        manifest = read_manifest(source / WALKS)
        facts = {"held_out": sorted(out), "seed": seed}
        with component(
            target / WALKS, "described walks", notes=manifest.strings("notes"), details=facts
        ) as draft:
            for split, walks in splits.items():
                write_walks(r2r_file(draft.folder, split), walks)
    return ImportReport(folder, tuple(_lines(splits)))


def _lines(splits: dict[str, list[Walk]]) -> Iterator[str]:
    for split, walks in splits.items():
        texts = sum(len(walk.instructions) for walk in walks)
        scans = len({walk.scan for walk in walks})
        plural = "" if scans == 1 else "s"
        yield f"r2r {split}: {texts:,} instructions of {len(walks):,} paths in {scans:,} house{plural}"
