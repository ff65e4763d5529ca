"""Small houses and walks for tests, with positions that can be computed by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from babywalk.assets.connectivity import Connectivity
from babywalk.assets.r2r import Walk
from babywalk.buildings.houses import Houses
from babywalk.episodes.walks import Walks


def connectivity(
    scan: str, positions: Sequence[Sequence[float]], edges: Iterable[tuple[int, int]], *, prefix: str = ""
) -> Connectivity:
    """A house with viewpoints "<prefix>0", "<prefix>1", ...; neighbours see each other."""
    count = len(positions)
    walkable = np.zeros((count, count), dtype=bool)
    for a, b in edges:
        walkable[a, b] = walkable[b, a] = True
    return Connectivity(
        scan=scan,
        viewpoints=tuple(f"{prefix}{number}" for number in range(count)),
        positions=np.array(positions, dtype=np.float64),
        heights=np.full(count, 1.5),
        unobstructed=walkable,
        visible=walkable.copy(),
    )


def corridor(scan: str, length: int, *, spacing: float = 2.0, prefix: str = "") -> Connectivity:
    """Viewpoints in a row along +y, each connected to the next."""
    return connectivity(
        scan,
        [(0.0, spacing * number, 1.5) for number in range(length)],
        [(number, number + 1) for number in range(length - 1)],
        prefix=prefix,
    )


def walk(
    scan: str, path: Sequence[int], path_id: int, texts: Sequence[str] = ("Go on.",), *, prefix: str = ""
) -> Walk:
    """A walk along numbered viewpoints."""
    return Walk(
        scan=scan,
        path_id=path_id,
        path=tuple(f"{prefix}{number}" for number in path),
        heading=0.5,
        instructions=tuple(texts),
        distance=2.0 * (len(path) - 1),
    )


def placed(houses: Houses, *walks: Walk) -> Walks:
    """Walks in the global index of houses."""
    return Walks.of(walks, houses, source=Path("walks.json"))
