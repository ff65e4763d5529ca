"""Walks that nobody has described: the shortest ways between viewpoints, as long as those of R2R.

R2R's walks are shortest ways of at least 5 m along four to six edges (Anderson et al. 2018). People described
a few of those that a house has; a speaker can describe others.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.data_directory import WALKS, component, details, read_manifest
from babywalk.assets.r2r import Walk, r2r_file, write_walks
from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError
from babywalk.common.ragged import Ragged
from babywalk.common.seeding import generator
from babywalk.episodes.dataset import SPLITS, Dataset
from babywalk.episodes.walks import Walks

EDGES = (4, 6)  # the fewest and the most
METRES = 5.0  # at least


def draw_unspoken(
    houses: Houses, described: list[Walks], count: int, *, seed: int
) -> tuple[Ragged, NDArray[np.float64]]:
    """So many new walks in the houses of the first of the described ones, and the headings they begin with.

    Every house gives as many, as far as it has them: what is learned is to be of many houses. No walk begins
    and ends where a described one does.
    """
    if count < 1:
        raise ConfigError(f"{count} walks are none. Give at least 1.")
    known = {
        (int(a), int(b))
        for walks in described
        for a, b in zip(walks.paths.firsts, walks.paths.lasts, strict=True)
    }
    draw = generator(seed, "unspoken walks")
    ways, turns = [], []
    for house in np.unique(houses.house_of[described[0].paths.firsts]):
        found = [way for way in _ways(houses, int(house)) if (way[0], way[-1]) not in known]
        ways += [found[number] for number in draw.permutation(len(found))]
        turns.append(np.arange(len(found)))
    if not ways:
        raise ConfigError("The training houses have no walks like those of R2R that nobody has described.")
    turn = np.concatenate(turns)
    order = np.lexsort((draw.random(len(turn)), turn))[:count]
    headings = draw.choice(described[0].headings, len(order))
    return Ragged.of([ways[number] for number in np.sort(order)]), headings


def _ways(houses: Houses, house: int) -> Iterator[list[int]]:
    """The shortest ways in a house that have R2R's length."""
    own = np.arange(houses.first[house], houses.first[house + 1])
    here, goal = (grid.ravel() for grid in np.meshgrid(own, own, indexing="ij"))
    metres = houses.distance(here, goal)
    fits = np.isfinite(metres) & (metres >= METRES)
    here, goal = here[fits], goal[fits]
    steps, at = [here], here
    for _ in range(EDGES[1] + 1):
        at = np.where(at == goal, at, houses.step_towards(at, goal))
        steps.append(at)
    table = np.column_stack(steps)
    edges = (table != goal[:, None]).sum(axis=1)
    for row in np.flatnonzero((edges >= EDGES[0]) & (edges <= EDGES[1])):
        yield table[row, : edges[row] + 1].tolist()


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
    notes = read_manifest(folder).strings("notes")
    known = {**details(folder).fields, "spoken": {**_spoken(dataset), split: dict(facts)}}
    with component(folder, "described walks", notes=notes, details=known) as draft:
        for other in dataset.splits:
            if other != split:
                shutil.copyfile(r2r_file(folder, other), r2r_file(draft.folder, other))
        write_walks(r2r_file(draft.folder, split), walks)


def _spoken(dataset: Dataset) -> dict[str, Any]:
    """How each split that a speaker described came to be."""
    return dict(details(dataset.folder / WALKS).fields.get("spoken", {}))
