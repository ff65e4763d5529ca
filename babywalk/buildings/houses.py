"""All houses of a data set in one global index of viewpoints, with shortest paths between them.

A batch over many houses is then plain array indexing. Loading goes through a cache keyed by the content of
the connectivity files. Processes may build it at the same time: each writes its own file and renames it into
place. If the cache cannot be written, the houses are built on every load.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from babywalk.assets.connectivity import Connectivity, connectivity_files, read_connectivity
from babywalk.assets.data_directory import check_hashes
from babywalk.common.array_files import Shape, read_arrays
from babywalk.common.errors import DataError, unknown
from babywalk.common.files import atomic_write, read_bytes
from babywalk.common.memory import check_memory
from babywalk.common.progress import progress
from babywalk.common.ragged import starts

NOWHERE = -1  # in place of a viewpoint: there is none

Index = NDArray[np.integer[Any]]

_BYTES_PER_PAIR = 13  # of viewpoints of a house: distance, next step, visible
_BYTES_TO_BUILD = 32  # per pair of the house whose shortest paths are being computed
_VERSION = "2"  # increment when the meaning of a table of Houses changes
_TABLES: tuple[tuple[str, str, Shape], ...] = (  # name, kind of values, shape
    ("first", "i", (None,)),
    ("positions", "f", (None, 3)),
    ("neighbours", "i", (None, None)),
    ("distances", "f", (None,)),
    ("next_step", "i", (None,)),
    ("visible", "b", (None,)),
)


def geodesics(
    positions: NDArray[np.float64],  # (N, 3)
    walkable: NDArray[np.bool_],  # (N, N) symmetric
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Lengths (N, N) of the shortest paths, infinite where there is none, and the next viewpoints (N, N).

    The next viewpoint from a to b is a neighbour of a; it is a itself where a is b, and NOWHERE where b
    cannot be reached.
    """
    tail, head = np.nonzero(walkable)
    # The length of an edge is the Euclidean distance in three dimensions.
    length = np.linalg.norm(positions[tail] - positions[head], axis=1)
    graph = csr_array((length, (tail, head)), shape=walkable.shape)
    distance, before = dijkstra(graph, return_predecessors=True)
    # The graph is undirected: the predecessor of a on the path from b is its successor on the path to b.
    next_step = np.where(before.T < 0, NOWHERE, before.T).astype(np.int32)
    np.fill_diagonal(next_step, np.arange(len(positions)))
    return distance, next_step


@dataclass(frozen=True, eq=False)
class Houses:
    """Viewpoints, neighbours and shortest paths of all houses.

    A viewpoint is an integer below N; those of one house are contiguous. Relations between two viewpoints of
    one house are in flat tables: the entry of (a, b) is at `row[a] + b`.
    Shapes: H houses, N viewpoints, at most K neighbours, P pairs of viewpoints of the same house.
    """

    scans: tuple[str, ...]  # H names
    names: tuple[str, ...]  # N viewpoint ids
    first: NDArray[np.int64]  # (H + 1,) the first viewpoint of each house
    positions: NDArray[np.float64]  # (N, 3) metres, z up
    neighbours: NDArray[np.int32]  # (N, K) viewpoints, NOWHERE after the last
    distances: NDArray[np.float64]  # (P,) metres of the shortest path, infinite where there is none
    next_step: NDArray[np.int32]  # (P,) the next viewpoint on that path
    visible: NDArray[np.bool_]  # (P,) True where the first sees the second

    @classmethod
    def of(cls, connectivity: Sequence[Connectivity]) -> Houses:
        """Build the index of houses, in the given order."""
        sizes = [len(house.viewpoints) for house in connectivity]
        largest = max(sizes, default=0)
        needed = _BYTES_PER_PAIR * sum(size**2 for size in sizes) + _BYTES_TO_BUILD * largest**2
        check_memory(needed, f"The table of shortest paths, with a house of {largest:,} viewpoints,")
        first = starts(sizes)
        degrees = [int(house.unobstructed.sum(axis=1).max(initial=0)) for house in connectivity]
        neighbours = np.full((int(first[-1]), max(degrees, default=0)), NOWHERE, dtype=np.int32)
        distances, next_step = [], []
        for house, offset, degree in zip(connectivity, first, degrees, strict=False):
            _check(house)
            neighbours[offset : offset + len(house.viewpoints), :degree] = _neighbours(house, degree, offset)
            length, step = geodesics(house.positions, house.unobstructed)
            distances.append(length.ravel())
            next_step.append(np.where(step == NOWHERE, NOWHERE, step + offset).astype(np.int32).ravel())
        return cls(
            scans=tuple(house.scan for house in connectivity),
            names=tuple(name for house in connectivity for name in house.viewpoints),
            first=first,
            positions=np.concatenate([house.positions for house in connectivity]),
            neighbours=neighbours,
            distances=np.concatenate(distances),
            next_step=np.concatenate(next_step),
            visible=np.concatenate([house.visible.ravel() for house in connectivity]),
        )

    def __len__(self) -> int:
        return len(self.scans)

    @cached_property
    def house_of(self) -> NDArray[np.int32]:
        """(N,) the house of each viewpoint."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.first))

    @cached_property
    def row(self) -> NDArray[np.int64]:
        """(N,) the offset of each viewpoint's entries in the tables of pairs."""
        size = np.diff(self.first)
        block = starts(size**2)[:-1]
        within = np.arange(len(self.names)) - self.first[self.house_of]
        flat: NDArray[np.int64] = block[self.house_of] + within * size[self.house_of]
        return flat - self.first[self.house_of]

    @cached_property
    def degree(self) -> NDArray[np.int32]:
        """(N,) the number of neighbours of each viewpoint."""
        count: NDArray[np.int32] = (self.neighbours != NOWHERE).sum(axis=1, dtype=np.int32)
        return count

    @cached_property
    def key(self) -> str:
        """A hash of the viewpoints and their order; tables computed for them store it."""
        return hashlib.sha256("\n".join((*self.scans, *self.names)).encode()).hexdigest()[:32]

    @cached_property
    def _numbers(self) -> dict[str, dict[str, int]]:
        return {
            scan: {name: number for number, name in enumerate(self.names[begin:end], start=begin)}
            for scan, begin, end in zip(
                self.scans, self.first[:-1].tolist(), self.first[1:].tolist(), strict=True
            )
        }

    def viewpoints(self, scan: str) -> dict[str, int]:
        """The viewpoints of a house by their ids."""
        if scan not in self._numbers:
            raise unknown("House", scan, self.scans)
        return self._numbers[scan]

    def distance(self, a: Index, b: Index) -> NDArray[np.float64]:
        """Metres of the shortest path from a to b; infinite between houses."""
        together = self.house_of[a] == self.house_of[b]
        entry = self.row[a] + np.where(together, b, a)
        return np.where(together, self.distances[entry], np.inf)

    def step_towards(self, a: Index, goal: Index) -> NDArray[np.int32]:
        """The next viewpoint on the shortest path to a goal in the same house; a itself at the goal."""
        step: NDArray[np.int32] = self.next_step[self.row[a] + goal]
        return step

    def adjacent(self, a: Index, b: Index) -> NDArray[np.bool_]:
        """True where b is a neighbour of a."""
        found: NDArray[np.bool_] = (self.neighbours[a] == np.asarray(b)[..., None]).any(axis=-1)
        return found

    def length(self, path: Index) -> float:
        """Metres along a path of neighbours."""
        return float(self.distance(path[:-1], path[1:]).sum())


def _neighbours(house: Connectivity, degree: int, offset: int) -> NDArray[np.int32]:
    """(n, degree) each viewpoint's neighbours in the order of the file."""
    table = np.full((len(house.viewpoints), degree), NOWHERE, dtype=np.int32)
    tail, head = np.nonzero(house.unobstructed)
    slot = np.arange(len(tail)) - starts(house.unobstructed.sum(axis=1))[tail]
    table[tail, slot] = head + offset
    return table


def _check(house: Connectivity) -> None:
    if not house.viewpoints:
        raise DataError(f"House {house.scan!r} has no included viewpoint; remove its file.")


def load_houses(folder: Path, cache: Path | None = None) -> Houses:
    """The houses of a folder of connectivity files; `cache` is a folder for the built tables."""
    files = connectivity_files(folder)
    hashes = _hashes(files)
    check_hashes(folder, hashes)
    stored = cache / f"houses-{_key(hashes)}.npz" if cache else None
    if stored and (houses := _read(stored)):
        return houses
    houses = Houses.of([read_connectivity(file) for file in progress(files, "Reading houses", unit="house")])
    if stored:
        with contextlib.suppress(OSError):
            _write(stored, houses)
    return houses


def _hashes(files: list[Path]) -> dict[str, str]:
    """The SHA-256 of each file by its name."""
    with ThreadPoolExecutor() as pool:
        found = pool.map(lambda file: hashlib.sha256(read_bytes(file)).hexdigest(), files)
        return dict(zip((file.name for file in files), found, strict=True))


def _key(hashes: Mapping[str, str]) -> str:
    digest = hashlib.sha256(_VERSION.encode())
    for name, content in hashes.items():
        digest.update(name.encode() + b"\0" + bytes.fromhex(content))
    return digest.hexdigest()[:32]


def _write(file: Path, houses: Houses) -> None:
    with atomic_write(file) as temporary, temporary.open("wb") as out:
        np.savez(
            out,
            scans=np.array(houses.scans),
            names=np.array(houses.names),
            **{name: getattr(houses, name) for name, _, _ in _TABLES},
        )


def _read(file: Path) -> Houses | None:
    """The cached houses; None if the file is missing or damaged."""
    try:
        stored = read_arrays(file, (("scans", "U", (None,)), ("names", "U", (None,)), *_TABLES))
    except DataError:
        return None
    houses = Houses(
        scans=tuple(stored["scans"].tolist()),
        names=tuple(stored["names"].tolist()),
        **{name: stored[name] for name, _, _ in _TABLES},
    )
    return houses if _is_consistent(houses) else None


def _is_consistent(houses: Houses) -> bool:
    """Whether the tables have the sizes that they need, and only viewpoints that there are."""
    first, count = houses.first, len(houses.names)
    if len(first) != len(houses) + 1 or first[0] != 0 or first[-1] != count or (np.diff(first) < 1).any():
        return False
    pairs = int((np.diff(first) ** 2).sum())
    viewpoints = (houses.neighbours, houses.next_step)
    return (
        len(houses.positions) == len(houses.neighbours) == count
        and len(houses.distances) == len(houses.next_step) == len(houses.visible) == pairs
        and all(not table.size or (table.min() >= NOWHERE and table.max() < count) for table in viewpoints)
    )
