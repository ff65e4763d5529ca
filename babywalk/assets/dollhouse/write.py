"""Writing a Dollhouse data set, in the raw formats of the real data.

    connectivity/<scan>_connectivity.json   R2R/R2R_<split>.json           fgr2r/FGR2R_<split>.json
    features/dollhouse.tsv                  BBox/<scan>_<viewpoint>.json   category_mapping.tsv
    rooms/<split>_room_pano_*.txt           plans/<scan>.json

The same config gives the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from babywalk.assets.boxes import write_boxes
from babywalk.assets.categories import write_categories
from babywalk.assets.connectivity import SUFFIX, Connectivity, write_connectivity
from babywalk.assets.dollhouse.furniture import ROOMS, categories
from babywalk.assets.dollhouse.house import CAMERA_HEIGHT, DollHouse, build_house, plan_fields
from babywalk.assets.dollhouse.landmarks import Landmarks
from babywalk.assets.dollhouse.narrator import STYLES, Narration, narrate
from babywalk.assets.dollhouse.rendering import boxes_at, embed, semantics
from babywalk.assets.dollhouse.routes import Route, draw_paths
from babywalk.assets.dollhouse.visibility import Visibility, compute_visibility
from babywalk.assets.fine_grained import FineGrainedWalk, fine_grained_file, write_fine_grained
from babywalk.assets.r2r import SPLITS, Walk, r2r_file, write_walks
from babywalk.assets.rooms import write_rooms
from babywalk.assets.view_features import Panorama, write_view_features
from babywalk.common.errors import ConfigError
from babywalk.common.files import write_json
from babywalk.common.progress import progress
from babywalk.common.seeding import generator

_UNSEEN_SHARE = 0.2  # of the houses


@dataclass(frozen=True, slots=True)
class DollhouseConfig:
    """The settings of a Dollhouse data set."""

    houses: int = 30  # one fifth of them, at least one, are for val_unseen and test
    seed: int = 0
    width: int = 64  # dimensions of the view features
    noise: float = 0.1  # standard deviation; a thing that fills the view contributes values of about 1
    train_paths: int = 60  # per training house
    val_seen_paths: int = 8  # per training house
    val_unseen_paths: int = 30  # per other house
    test_paths: int = 8  # per other house
    instructions: int = 3  # per path, each in another style

    def __post_init__(self) -> None:
        counts = ("train_paths", "val_seen_paths", "val_unseen_paths", "test_paths")
        limits = {
            "houses": (2, 1000),
            "seed": (0, None),
            "width": (1, None),
            "noise": (0, None),
            **dict.fromkeys(counts, (1, None)),
            "instructions": (1, len(STYLES)),  # each in another style
        }
        wrong = []
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if not low <= value < math.inf:
                wrong.append(f"{name} = {value} is out of range; it must be at least {low}.")
            elif high is not None and value > high:
                wrong.append(f"{name} = {value} is out of range; it must be at most {high}.")
        if wrong:
            raise ConfigError(f"Dollhouse: {' '.join(wrong)}")

    @property
    def unseen_houses(self) -> int:
        """The number of houses that are not for training; they come last."""
        return max(1, round(_UNSEEN_SHARE * self.houses))

    def paths(self, house: int) -> dict[str, int]:
        """The number of paths of each split to draw in a house.

        The smaller split is first, so it gets its paths even if the larger one uses up all the others.
        """
        if house < self.houses - self.unseen_houses:
            return {"val_seen": self.val_seen_paths, "train": self.train_paths}
        return {"test": self.test_paths, "val_unseen": self.val_unseen_paths}


def write_dollhouse(folder: Path, config: DollhouseConfig) -> None:
    """Build the houses and write the whole data set into `folder`."""
    described = _DescribedWalks(config)
    rooms: dict[str, dict[tuple[str, str], int]] = {"train": {}, "test": {}}

    def panoramas() -> Iterator[Panorama]:
        # One house at a time with all its files, so that memory does not grow with the number of houses.
        for number in progress(range(config.houses), "Building dollhouses", unit="house"):
            house = build_house(config.seed, number)
            visibility = compute_visibility(house)
            _write_house(folder, house, visibility)
            described.add(house, visibility, number)
            seen = "train" if "train" in config.paths(number) else "test"
            rooms[seen] |= _room_classes(house)
            yield from _panoramas(house, visibility, config)

    write_view_features(folder / "features" / "dollhouse.tsv", panoramas())
    for split in SPLITS:
        walks = described.walks[split]
        write_walks(r2r_file(folder / "R2R", split), [_published(item.walk, split) for item in walks])
        if split != "test":  # it would reveal the paths
            write_fine_grained(fine_grained_file(folder / "fgr2r", split), walks)
    for split, classes in rooms.items():
        write_rooms(folder / "rooms", split, classes)
    write_categories(folder / "category_mapping.tsv", categories())


@dataclass
class _DescribedWalks:
    """The walks of all splits; path ids count across splits and houses."""

    config: DollhouseConfig
    walks: dict[str, list[FineGrainedWalk]] = field(default_factory=lambda: {split: [] for split in SPLITS})

    def add(self, house: DollHouse, visibility: Visibility, number: int) -> None:
        """Draw and describe paths in a house."""
        landmarks = Landmarks(house, visibility)
        known: list[tuple[int, ...]] = []
        for split, count in self.config.paths(number).items():
            rng = generator(self.config.seed, "paths", split, number)
            for path in draw_paths(house, count, rng, without=known):
                known.append(path.nodes)
                order = rng.permutation(len(STYLES))[: self.config.instructions]
                narrations = [narrate(landmarks, path, STYLES[style], rng) for style in order]
                self.walks[split].append(
                    _walk(house, path, narrations, sum(map(len, self.walks.values())) + 1)
                )


def _walk(house: DollHouse, path: Route, narrations: Sequence[Narration], path_id: int) -> FineGrainedWalk:
    walk = Walk(
        scan=house.scan,
        path_id=path_id,
        path=tuple(house.viewpoints[node] for node in path.nodes),
        heading=path.heading,
        instructions=tuple(narration.text for narration in narrations),
        distance=path.length,
    )
    return FineGrainedWalk(walk, tuple(narration.steps for narration in narrations))


def _published(walk: Walk, split: str) -> Walk:
    """The walk as published in its split: a test split has only the start."""
    if split != "test":
        return walk
    return Walk(walk.scan, walk.path_id, walk.path[:1], walk.heading, walk.instructions)


def _panoramas(house: DollHouse, visibility: Visibility, config: DollhouseConfig) -> Iterator[Panorama]:
    rng = generator(config.seed, "noise", house.scan)
    views = embed(semantics(house, visibility), width=config.width, noise=config.noise, rng=rng)
    for viewpoint, around in zip(house.viewpoints, views, strict=True):
        yield Panorama(house.scan, viewpoint, around)


def _room_classes(house: DollHouse) -> dict[tuple[str, str], int]:
    return {
        (house.scan, viewpoint): 1 + ROOMS.index(house.room_kind(number))
        for number, viewpoint in enumerate(house.viewpoints)
    }


def _write_house(folder: Path, house: DollHouse, visibility: Visibility) -> None:
    graph = Connectivity(
        scan=house.scan,
        viewpoints=house.viewpoints,
        positions=house.positions,
        heights=np.full(len(house.viewpoints), CAMERA_HEIGHT),
        unobstructed=house.unobstructed,
        visible=visibility.visible,
    )
    write_connectivity(folder / "connectivity" / f"{house.scan}{SUFFIX}", graph)
    write_json(folder / "plans" / f"{house.scan}.json", plan_fields(house))
    for viewpoint in range(len(house.viewpoints)):
        write_boxes(folder / "BBox", boxes_at(house, visibility, viewpoint))
