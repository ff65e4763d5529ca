"""A split of walks that a speaker has described, in the same file format as those that people described."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.layout import WALKS
from babywalk.assets.manifest import component, details, read_manifest
from babywalk.assets.r2r import Walk, r2r_file, write_walks
from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError
from babywalk.common.ragged import Ragged
from babywalk.episodes.dataset import SPLITS, Dataset

_FIRST = 1_000_000  # path ids of spoken walks begin here, where R2R has none


def check_split(dataset: Dataset, name: str) -> None:
    """Refuse a name that is no new split's; one that was spoken before may be written anew."""
    if name in SPLITS:
        raise ConfigError(
            f"Split {name!r} has walks that people described. Give another name for the new one."
        )
    if not name.isidentifier():
        raise ConfigError(f"Split {name!r} is no name. Give letters, digits and underscores.")
    if name in dataset.splits and name not in _spoken(dataset):
        raise ConfigError(
            f"Split {name!r} has walks that no speaker described here. Give another name for the new one."
        )


def described(
    paths: Ragged, headings: NDArray[np.float64], texts: Sequence[str], houses: Houses
) -> list[Walk]:
    """Walks with one text each, numbered."""
    return [
        Walk(
            scan=houses.scans[houses.house_of[path[0]]],
            path_id=_FIRST + number,
            path=tuple(houses.names[viewpoint] for viewpoint in path),
            heading=round(float(heading), 4),
            instructions=(text,),
            distance=round(float(houses.distance(path[0], path[-1])), 2),
        )
        for number, (path, heading, text) in enumerate(
            zip((paths[row] for row in range(len(paths))), headings, texts, strict=True)
        )
    ]


def keep_split(dataset: Dataset, split: str, walks: Sequence[Walk], facts: Mapping[str, Any]) -> None:
    """Add a split to the walks of a data directory, or write it anew; the other splits stay as they are."""
    folder = dataset.folder / WALKS
    notes = read_manifest(folder).texts("notes")
    known = {**details(folder).fields, "spoken": {**_spoken(dataset), split: dict(facts)}}
    with component(folder, "described walks", notes=notes, details=known) as draft:
        for other in dataset.splits:
            if other != split:
                shutil.copyfile(r2r_file(folder, other), r2r_file(draft.folder, other))
        write_walks(r2r_file(draft.folder, split), walks)


def _spoken(dataset: Dataset) -> dict[str, Any]:
    """How each split that a speaker described came to be."""
    return dict(details(dataset.folder / WALKS).fields.get("spoken", {}))
