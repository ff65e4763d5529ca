from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from babywalk.assets.dollhouse import DollhouseConfig, build_house, write_dollhouse
from babywalk.assets.dollhouse.house import DollHouse
from babywalk.assets.dollhouse.landmarks import Landmarks
from babywalk.assets.dollhouse.narrator import STYLES, Narration, narrate
from babywalk.assets.dollhouse.routes import Route, draw_paths
from babywalk.assets.dollhouse.visibility import compute_visibility

SMALL = DollhouseConfig(
    houses=3, seed=7, width=16, train_paths=20, val_seen_paths=4, val_unseen_paths=12, test_paths=3
)


@pytest.fixture(scope="session")
def houses() -> list[DollHouse]:
    return [build_house(0, number) for number in range(8)]


@pytest.fixture(scope="session")
def landmarks_per_house(houses: list[DollHouse]) -> list[Landmarks]:
    return [Landmarks(house, compute_visibility(house)) for house in houses]


@pytest.fixture(scope="session")
def narrations(landmarks_per_house: list[Landmarks]) -> list[tuple[Landmarks, Route, Narration]]:
    found = []
    for number, landmarks in enumerate(landmarks_per_house):
        rng = np.random.default_rng(number)
        for path in draw_paths(landmarks.house, 40, rng):
            found += [(landmarks, path, narrate(landmarks, path, style, rng)) for style in STYLES]
    return found


@pytest.fixture(scope="session")
def small() -> DollhouseConfig:
    return SMALL


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dollhouse")
    write_dollhouse(folder, SMALL)
    return folder
