"""Augmentation: new paths like those of R2R, and a split of walks with instructions by a speaker model.

R2R's paths are shortest paths of at least 5 m with four to six edges (Anderson et al. 2018). Only some of
those in a house have human instructions; a speaker can describe the others.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.data_directory import WALKS, component, details, read_manifest
from babywalk.assets.r2r import SPLITS, Walk, r2r_file, write_walks
from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError
from babywalk.common.ragged import Ragged
from babywalk.common.seeding import generator
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.walks import Walks

EDGES = (4, 6)  # minimum and maximum
MIN_METRES = 5.0
_FIRST_PATH_ID = 1_000_000  # of augmented walks; R2R has no ids this high


def sample_paths(
    houses: Houses, described: list[Walks], count: int, *, seed: int
) -> tuple[Ragged, NDArray[np.float64]]:
    """`count` new paths in the houses of `described[0]`, and their start headings.

    The number per house is balanced as far as the houses have enough paths. No path has the same start and
    end as a described walk.
    """
    if count < 1:
        raise ConfigError(f"count = {count} is out of range; it must be at least 1.")
    known = {
        (int(a), int(b))
        for walks in described
        for a, b in zip(walks.paths.firsts, walks.paths.lasts, strict=True)
    }
    draw = generator(seed, "unspoken walks")
    paths, ranks = [], []
    for house in np.unique(houses.house_of[described[0].paths.firsts]):
        found = [path for path in _r2r_like_paths(houses, int(house)) if (path[0], path[-1]) not in known]
        paths += [found[number] for number in draw.permutation(len(found))]
        ranks.append(np.arange(len(found)))
    if not paths:
        raise ConfigError("The training houses have no undescribed paths of R2R's length.")
    rank = np.concatenate(ranks)  # within the house: the first path of every house, then the second, ...
    order = np.lexsort((draw.random(len(rank)), rank))[:count]
    headings = draw.choice(described[0].headings, len(order))
    return Ragged.of([paths[number] for number in np.sort(order)]), headings


def _r2r_like_paths(houses: Houses, house: int) -> Iterator[list[int]]:
    """The shortest paths in a house that have R2R's length."""
    own = np.arange(houses.first[house], houses.first[house + 1])
    here, goal = (grid.ravel() for grid in np.meshgrid(own, own, indexing="ij"))
    metres = houses.distance(here, goal)
    fits = np.isfinite(metres) & (metres >= MIN_METRES)
    here, goal = here[fits], goal[fits]
    steps, at = [here], here
    for _ in range(EDGES[1] + 1):
        at = np.where(at == goal, at, houses.step_towards(at, goal))
        steps.append(at)
    table = np.column_stack(steps)
    edges = (table != goal[:, None]).sum(axis=1)
    for row in np.flatnonzero((edges >= EDGES[0]) & (edges <= EDGES[1])):
        yield table[row, : edges[row] + 1].tolist()


def check_split(dataset: Dataset, name: str) -> None:
    """Raise unless `name` is free for a new split; an augmented split may be overwritten."""
    if name in SPLITS:
        raise ConfigError(f"Split {name!r} has human instructions. Give the new split another name.")
    if not name.isidentifier():
        raise ConfigError(f"Split name {name!r} is not valid. Use letters, digits and underscores.")
    if name in dataset.splits and name not in _augmented_splits(dataset):
        raise ConfigError(f"Split {name!r} was not written by a speaker. Give the new split another name.")


def described_walks(
    paths: Ragged, headings: NDArray[np.float64], texts: Sequence[str], houses: Houses
) -> list[Walk]:
    """Walks with one instruction each."""
    return [
        Walk(
            scan=houses.scans[houses.house_of[path[0]]],
            path_id=_FIRST_PATH_ID + number,
            path=tuple(houses.names[viewpoint] for viewpoint in path),
            heading=round(float(heading), 4),
            instructions=(text,),
            distance=round(float(houses.distance(path[0], path[-1])), 2),
        )
        for number, (path, heading, text) in enumerate(
            zip((paths[row] for row in range(len(paths))), headings, texts, strict=True)
        )
    ]


def save_split(dataset: Dataset, split: str, walks: Sequence[Walk], facts: Mapping[str, Any]) -> None:
    """Add a split to the walks of a data directory, or overwrite it; the other splits are unchanged."""
    folder = dataset.folder / WALKS
    notes = read_manifest(folder).strings("notes")
    known = {**details(folder).fields, "augmented": {**_augmented_splits(dataset), split: dict(facts)}}
    with component(folder, "described walks", notes=notes, details=known) as draft:
        for other in dataset.splits:
            if other != split:
                shutil.copyfile(r2r_file(folder, other), r2r_file(draft.folder, other))
        write_walks(r2r_file(draft.folder, split), walks)


def _augmented_splits(dataset: Dataset) -> dict[str, Any]:
    """The facts recorded for each augmented split."""
    facts = details(dataset.folder / WALKS)
    return facts.table("augmented") if "augmented" in facts.fields else {}
