"""Small houses to draw: on one floor, on two floors, and a floor plan."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from builders import connectivity

from babywalk.assets.connectivity import Connectivity
from babywalk.buildings.houses import Houses
from babywalk.common.files import write_json


def chain(scan: str, positions: list[tuple[float, float, float]]) -> Connectivity:
    """A house in which each viewpoint is a neighbour of the next."""
    return connectivity(scan, positions, pairwise(range(len(positions))), prefix=f"{scan}-")


@pytest.fixture(scope="session")
def houses() -> Houses:
    """`flat`: 0 to 4. `tall`: 5 to 8 below, 9 on the stairs, 10 to 13 above. `wide`: 14 to 73."""
    flat = [(2.0 * number, float(number % 2), 1.5) for number in range(5)]
    below = [(2.0 * number, 0.0, 1.5) for number in range(4)]
    above = [(2.0 * number, 3.0, 4.3) for number in reversed(range(4))]
    tall = [*below, (7.0, 1.5, 2.8), *above]
    wide = [(2.0 * (number % 10), 3.0 * (number // 10), 1.5) for number in range(60)]
    return Houses.of([chain("flat", flat), chain("tall", tall), chain("wide", wide)])


@pytest.fixture(scope="session")
def ladder() -> Houses:
    """`ladder`: 0 to 2 below, 3 to 5 above, 3 straight over 2. `low`: 6 to 8, on one floor."""
    below = [(2.0 * number, 0.0, 1.5) for number in range(3)]
    above = [(4.0 - 2.0 * number, 0.0, 4.3) for number in range(3)]
    return Houses.of([chain("ladder", [*below, *above]), chain("low", below)])


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A floor plan of `tall`."""
    room = {"x0": -1.0, "y0": -1.0, "x1": 8.0, "y1": 4.0}
    floor = {
        "rooms": [{"name": "hall", **room}],
        "doors": [{"name": "door", "x0": -1.0, "y0": 1.0, "x1": -1.0, "y1": 2.0}],
        "stairs": [{"x0": 6.0, "y0": 1.0, "x1": 8.0, "y1": 2.0}],
        "furniture": [{"name": "table", "x0": 1.0, "y0": 1.0, "x1": 2.0, "y1": 1.5}],
    }
    file = tmp_path / "tall.json"
    write_json(file, {"floors": [floor, floor | {"rooms": [{"name": "attic", **room}]}]})
    return file
