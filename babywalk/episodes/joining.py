"""Joining R2R walks into the longer ones of R4R, R6R and R8R.

R4R joins two paths if the shortest path from the end of one to the start of the next is at most 3.0 m (Jain
et al. 2019); R6R and R8R join three and four that are at most 0.5 m apart (section 4.3 of the paper). A path
may follow itself. Chains are in the order of the official R4R files, whose path ids count them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import NOWHERE, Houses
from babywalk.common.errors import unknown
from babywalk.common.ragged import Ragged, concat_within_rows, ranges, starts
from babywalk.episodes.walks import Walks


@dataclass(frozen=True, slots=True)
class JoinRule:
    """How the walks of a task are joined, and the sizes of the published data."""

    walks: int  # per episode
    max_gap: float  # metres from the end of one walk to the start of the next
    published_sizes: dict[str, int]  # instructions by split; the paper does not say how they were selected


TASKS = {
    "r2r": JoinRule(1, 0.0, {}),
    "r4r": JoinRule(2, 3.0, {}),
    "r6r": JoinRule(3, 0.5, {"train": 89_632, "val_unseen": 35_777}),
    "r8r": JoinRule(4, 0.5, {"train": 94_731, "val_unseen": 43_273}),
}


# The version of the seeded draws of R6R and R8R up to the published sizes. A draw never changes under its
# number: what changes it (the order of the chains, the random stream) gets the next number.
DRAW = 2


def join_rule(task: str) -> JoinRule:
    """The rule of a task."""
    if task not in TASKS:
        raise unknown("Task", task, TASKS)
    return TASKS[task]


def chains(walks: Walks, houses: Houses, rule: JoinRule) -> NDArray[np.int32]:
    """(C, walks per chain) all chains of walks that satisfy the rule.

    Houses are in the order in which they first occur in the file of walks; within a house the chains are in
    lexicographic order of their walks' positions in the file. Single walks are in the order of the file.
    """
    chain = np.arange(len(walks), dtype=np.int32)[:, None]
    if rule.walks == 1:
        return chain
    chain = chain[_by_house(walks, houses)]
    successors = _successors(walks, houses, rule.max_gap)
    for _ in range(rule.walks - 1):
        last = chain[:, -1]
        following = successors.take(last)
        chain = np.column_stack([np.repeat(chain, following.lengths, axis=0), following.values])
    return chain


def _by_house(walks: Walks, houses: Houses) -> NDArray[np.int64]:
    """The walks grouped by house, houses by their first walk; stable within a house."""
    _, first, house = np.unique(houses.house_of[walks.paths.firsts], return_index=True, return_inverse=True)
    return np.argsort(first[house], kind="stable")


def _successors(walks: Walks, houses: Houses, max_gap: float) -> Ragged:
    """Row w: the walks that start at most `max_gap` metres from the end of w."""
    house = houses.house_of[walks.paths.firsts]
    order = np.argsort(house, kind="stable")
    bounds = np.searchsorted(house[order], np.arange(len(houses) + 1))
    before, after = [], []
    for begin, end in itertools.pairwise(bounds):
        local = order[begin:end]
        gap = houses.distance(walks.paths.lasts[local][:, None], walks.paths.firsts[local])
        tail, head = np.nonzero(gap <= max_gap)
        before.append(local[tail])
        after.append(local[head])
    tails, heads = np.concatenate(before), np.concatenate(after)
    order = np.lexsort((heads, tails))
    return Ragged(heads[order].astype(np.int32), starts(np.bincount(tails, minlength=len(walks))))


def join_paths(walks: Walks, houses: Houses, chain: NDArray[np.int32]) -> Ragged:
    """The path of each chain: its walks and the shortest paths between them, without repeated viewpoints."""
    pieces = [walks.paths.take(chain[:, 0])]
    for before, after in zip(chain.T[:-1], chain.T[1:], strict=True):
        end, start = walks.paths.lasts[before], walks.paths.firsts[after]
        pieces.append(_between(houses, end, start))
        pieces.append(_without_first(walks.paths.take(after), end == start))
    return concat_within_rows(pieces)


def _between(houses: Houses, a: NDArray[np.int32], b: NDArray[np.int32]) -> Ragged:
    """The inner viewpoints of the shortest paths from a to b."""
    steps = []
    at = houses.step_towards(a, b)
    while (onward := at != b).any():
        steps.append(np.where(onward, at, NOWHERE))
        at = houses.step_towards(at, b)
    table = np.column_stack(steps) if steps else np.empty((len(a), 0), dtype=np.int32)
    passed = table != NOWHERE
    return Ragged(table[passed], starts(passed.sum(axis=1)))


def _without_first(paths: Ragged, drop: NDArray[np.bool_]) -> Ragged:
    lengths = paths.lengths - drop
    start = starts(lengths)
    return Ragged(paths.values[ranges(paths.start[:-1] + drop, lengths, start)], start)
