"""A task: the episodes of one split, as references to the walks they consist of.

R2R has one walk per episode. An episode of R4R, R6R or R8R is a chain of walks and one instruction of each;
texts and paths are not copied until they are used, so a task of a million episodes is a few arrays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.r2r import Walk
from babywalk.buildings.houses import Houses
from babywalk.buildings.panorama import VIEW_HEADINGS, direction, nearest_view
from babywalk.common.errors import ConfigError, unknown
from babywalk.common.ragged import Ragged, starts
from babywalk.common.seeding import generator
from babywalk.episodes.joining import DRAW, JoinRule, chains, join_paths
from babywalk.episodes.walks import Walks

Index = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Episode:
    """An instruction and the path it describes."""

    id: str  # "<path id>_<index of the instruction>"
    scan: str
    path: tuple[str, ...]  # viewpoint ids; the start alone if the goal is not published
    heading: float  # radians at the start
    instruction: str


@dataclass(frozen=True, eq=False)
class Task:
    """The episodes of one split, in a fixed order.

    A chain of M walks, each with several instructions, gives one episode per combination of instructions: the
    full product, ordered by chain, then by the instruction of each walk, the last changing fastest.
    Shapes: C chains of M walks, E episodes.
    """

    name: str  # "r2r", "r4r", "r6r" or "r8r"
    split: str
    houses: Houses
    walks: Walks
    chain: NDArray[np.int32]  # (C, M) walks
    chosen: NDArray[np.int64] | None = None  # (E,) increasing indices into the full product; None: all
    counted: NDArray[np.int64] | None = None  # the indices that ids count, a superset of `chosen`; None: all
    draw: str | None = None  # the name of the draw that gave `counted`, such as "draw 2"

    def __len__(self) -> int:
        return self.full_size if self.chosen is None else len(self.chosen)

    def __getitem__(self, episode: int) -> Episode:
        if not -len(self) <= episode < len(self):
            raise IndexError(f"episode {episode} of {len(self)}")
        number = np.array([episode % len(self)])
        chain = int(self.chain_of(number)[0])
        path = self.paths[chain]
        return Episode(
            id=self.ids(number)[0],
            scan=self.houses.scans[self.houses.house_of[path[0]]],
            path=tuple(self.houses.names[viewpoint] for viewpoint in path),
            heading=float(self.start_headings(np.array(chain))),
            instruction=self.instructions(number)[0],
        )

    def __iter__(self) -> Iterator[Episode]:
        return (self[episode] for episode in range(len(self)))

    @property
    def full_size(self) -> int:
        """The number of episodes of the full product."""
        return int(self._first[-1])

    @cached_property
    def paths(self) -> Ragged:
        """C rows of viewpoints: the path of each chain."""
        return join_paths(self.walks, self.houses, self.chain)

    @cached_property
    def path_metres(self) -> NDArray[np.float64]:
        """(C,) metres along each path, from its viewpoints."""
        return path_metres(self.paths, self.houses)

    @cached_property
    def path_ids(self) -> NDArray[np.int64]:
        """(C,) the published id of each walk; chains of several walks are numbered from 0, as in R4R."""
        if self.chain.shape[1] == 1:
            return self.walks.path_ids[self.chain[:, 0]]
        return np.arange(len(self.chain))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the walks and texts of all episodes, stored with what is computed per episode."""
        digest = hashlib.sha256(np.ascontiguousarray(self.chain, dtype="<i4").tobytes())
        if self.chosen is not None:
            digest.update(np.ascontiguousarray(self.chosen, dtype="<i8").tobytes())
        return digest.hexdigest()

    @cached_property
    def chains_used(self) -> NDArray[np.int64]:
        """The chains that have at least one episode, in order."""
        if self.chosen is None:
            return np.arange(len(self.chain))
        return np.unique(self.chain_of(np.arange(len(self))))

    def full_indices(self, episodes: Index) -> NDArray[np.int64]:
        """The indices of episodes in the full product: the same in every sample of a task."""
        return np.asarray(episodes, dtype=np.int64) if self.chosen is None else self.chosen[episodes]

    def chain_of(self, episodes: Index) -> NDArray[np.int64]:
        """The chain of each episode."""
        return np.searchsorted(self._first, self.full_indices(episodes), side="right") - 1

    def start_headings(self, chains: Index, places: Index | None = None) -> NDArray[np.float64]:
        """(B,) radians at the start of paths, or of Baby-Steps that start at index `places` of a path.

        At the start of a path it is that of the first walk. Later it is that of the view nearest to the
        direction of the last move, which is what a walker faces after that move.
        """
        first: NDArray[np.float64] = self.walks.headings[self.chain[chains, 0]]
        if places is None:
            return first
        index = self.paths.start[chains] + places  # into the flat array of all paths
        viewpoints, positions = self.paths.values, self.houses.positions
        move = positions[viewpoints[index]] - positions[viewpoints[np.maximum(index - 1, 0)]]
        return np.where(np.asarray(places) > 0, VIEW_HEADINGS[nearest_view(*direction(move))], first)

    def texts_of(self, episodes: Index) -> NDArray[np.int64]:
        """(..., M) the texts of `walks.texts` that form the instruction of each episode."""
        full = self.full_indices(episodes)
        chain = np.searchsorted(self._first, full, side="right") - 1
        walks = self.chain[chain]
        count = self._texts_per_walk[walks]
        rest = full - self._first[chain]
        text = np.empty(walks.shape, dtype=np.int64)
        for part in reversed(range(walks.shape[-1])):  # mixed radix, the last digit changes fastest
            rest, text[..., part] = np.divmod(rest, count[..., part])
        return text + self.walks.first_text[walks]

    def ids(self, episodes: Index) -> list[str]:
        """The ids "<path id>_<index>", where the index counts the instructions of that path from 0."""
        full = self.full_indices(episodes)
        chain = self.chain_of(episodes)
        first = self._first[chain]
        if self.counted is not None:
            full, first = np.searchsorted(self.counted, full), np.searchsorted(self.counted, first)
        paths, numbers = self.path_ids[chain], full - first
        return [f"{path}_{number}" for path, number in zip(paths.tolist(), numbers.tolist(), strict=True)]

    def index_of(self, id_: str) -> int:
        """The index of an episode by its id."""
        if id_ not in self._numbers:
            raise unknown(f"Episode of {self.name} {self.split}", id_, [*list(self._numbers)[:3], "..."])
        return self._numbers[id_]

    def instructions(self, episodes: Index) -> list[str]:
        """The instructions of several episodes."""
        return [self._instruction(texts) for texts in self.texts_of(episodes)]

    def sampled(self, size: int, *, seed: int = 0) -> Task:
        """A uniform sample of `size` episodes without replacement; order and ids are kept."""
        if size < 1:
            raise ConfigError(f"A sample size of {size} is out of range; it must be at least 1.")
        if size >= len(self):
            return self
        drawn = generator(seed, "sample", self.name, self.split, size).choice(len(self), size, replace=False)
        return replace(self, chosen=self.full_indices(np.sort(drawn)))

    def as_walks(self) -> Iterator[Walk]:
        """Each chain with episodes as one walk, for export in R2R's format.

        Readers of that format number the instructions of a path from 0, like the ids of a drawn task.
        """
        chain = self.chain_of(np.arange(len(self)))
        instructions = self.instructions(np.arange(len(self)))
        bounds = np.flatnonzero(np.diff(chain, prepend=-1, append=len(self.chain)))
        for begin, end in pairwise(bounds.tolist()):
            first = self[begin]
            yield Walk(
                scan=first.scan,
                path_id=int(self.path_ids[chain[begin]]),
                path=first.path,
                heading=first.heading,
                instructions=tuple(instructions[begin:end]),
                distance=float(self._distances[chain[begin]]) if self.walks.has_goals else None,
            )

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {id_: number for number, id_ in enumerate(self.ids(np.arange(len(self))))}

    @cached_property
    def _texts_per_walk(self) -> NDArray[np.int64]:
        return np.diff(self.walks.first_text)

    @cached_property
    def _first(self) -> NDArray[np.int64]:
        """(C + 1,) the index of the first episode of each chain in the full product."""
        return starts(self._texts_per_walk[self.chain].prod(axis=1))

    def _instruction(self, texts: NDArray[np.int64]) -> str:
        """The texts one after the other, with a space where two meet without white space."""
        first, *others = texts.tolist()
        whole: str = self.walks.texts[first]
        for text in others:
            part = self.walks.texts[text]
            whole += part if whole[-1:].isspace() or part[:1].isspace() else f" {part}"
        return whole

    @cached_property
    def _distances(self) -> NDArray[np.float64]:
        """(C,) metres along each path: the published distances of its walks and the gaps between them."""
        walks = self.walks
        unpublished = np.isnan(walks.distances)
        lengths = walks.distances.copy()
        if unpublished.any():  # centimetres, as in R2R
            lengths[unpublished] = np.round(path_metres(walks.paths, self.houses), 2)[unpublished]
        total = lengths[self.chain[:, 0]]
        for before, after in zip(self.chain.T[:-1], self.chain.T[1:], strict=True):
            gap = self.houses.distance(walks.paths.lasts[before], walks.paths.firsts[after])
            total = total + gap + lengths[after]
        return total


def join_task(
    name: str, split: str, houses: Houses, walks: Walks, rule: JoinRule, *, seed: int | None
) -> Task:
    """Join walks into a task; with a seed, episodes are drawn up to the published size, if there is one."""
    full = Task(name, split, houses, walks, chains(walks, houses, rule))
    size = rule.published_sizes.get(split)
    if seed is None or size is None or size >= len(full):
        return full
    chosen = drawn(len(full), size, name, split, seed=seed)
    return replace(full, chosen=chosen, counted=chosen, draw=draw_name(DRAW, seed))


def drawn(full: int, size: int, name: str, split: str, *, seed: int) -> NDArray[np.int64]:
    """A uniform draw without replacement of `size` increasing numbers below `full`.

    It must never change for a given value of DRAW: published results depend on it. Hence it uses only the raw
    bit stream, which NumPy keeps between versions, and no method of the generator.
    """
    keys = generator(seed, "draw", DRAW, name, split, size).bit_generator.random_raw(full)
    return np.sort(np.argsort(keys, kind="stable")[:size])


def draw_name(draw: int, seed: int) -> str:
    """The name of a draw in tables: "draw 2", with the seed unless it is 0."""
    return f"draw {draw}" if seed == 0 else f"draw {draw}, seed {seed}"


def path_metres(paths: Ragged, houses: Houses) -> NDArray[np.float64]:
    """The metres along each row of viewpoints."""
    steps, start = paths.values, paths.start
    length = np.append(houses.distance(steps[:-1], steps[1:]), 0.0)
    length[start[1:] - 1] = 0.0  # not an edge: from the end of one path to the start of the next
    return np.add.reduceat(length, start[:-1])
