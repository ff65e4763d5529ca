"""Paths: shortest walks of four to six edges between a few end points, so that many can be joined.

R4R, R6R and R8R join paths where one ends and another starts. Starts and goals are drawn from a pool that
is smaller than the house, hence several paths start where any one of them ends.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from babywalk.assets.dollhouse.geometry import heading
from babywalk.assets.dollhouse.house import DollHouse

SHORTEST = 5.0  # metres
EDGES = (4, 5, 6)
_POOL = 0.62  # end points per path
_SMALLEST_POOL = 10
_ONE_ROOM = 0.1  # how likely a path within one room is drawn, against one that leaves it


@dataclass(frozen=True, slots=True)
class Path:
    """A shortest walk between two viewpoints, and where the walker looks at first."""

    nodes: tuple[int, ...]  # numbers of viewpoints
    heading: float
    length: float  # metres


def draw_paths(
    house: DollHouse, count: int, rng: np.random.Generator, *, without: Collection[tuple[int, ...]] = ()
) -> list[Path]:
    """Up to `count` different paths, none of them in `without`."""
    steps = np.linalg.norm(house.positions[:, None] - house.positions[None], axis=2)
    distance, before = dijkstra(np.where(house.unobstructed, steps, 0.0), return_predecessors=True)
    size = min(len(house.viewpoints), max(_SMALLEST_POOL, round(_POOL * count)))
    pool = np.sort(rng.permutation(len(house.viewpoints))[:size])
    known = frozenset(without)
    choices, weights = [], []
    for start in pool:
        for goal in pool:
            nodes = _trace(before, int(start), int(goal))
            if len(nodes) - 1 not in EDGES or distance[start, goal] < SHORTEST or nodes in known:
                continue
            choices.append(nodes)
            weights.append(1.0 if len({house.rooms[node] for node in nodes}) > 1 else _ONE_ROOM)
    if not choices:
        return []
    chance = np.array(weights) / np.sum(weights)
    drawn = rng.choice(len(choices), size=min(count, len(choices)), replace=False, p=chance)
    return [
        Path(
            nodes=choices[index],
            heading=_first_heading(house, choices[index], rng),
            length=round(float(distance[choices[index][0], choices[index][-1]]), 2),
        )
        for index in drawn
    ]


def _trace(before: NDArray[np.int32], start: int, goal: int) -> tuple[int, ...]:
    nodes = [goal]
    while nodes[-1] != start:
        nodes.append(int(before[start, nodes[-1]]))
    return tuple(reversed(nodes))


def _first_heading(house: DollHouse, nodes: tuple[int, ...], rng: np.random.Generator) -> float:
    """Mostly along the path, often sideways or away from it."""
    ahead = heading(house.positions[nodes[0]], house.positions[nodes[1]])
    spread = rng.normal(0.0, 0.3) if rng.random() < 0.5 else rng.uniform(-np.pi, np.pi)
    return round(float((ahead + spread) % (2 * np.pi)), 3) % round(2 * np.pi, 3)
