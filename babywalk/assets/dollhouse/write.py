"""The whole data set on disk, in the raw formats of the real data.

    connectivity/<scan>_connectivity.json   R2R/R2R_<split>.json        fgr2r/FGR2R_<split>.json
    features/dollhouse.tsv                  BBox/<scan>_<viewpoint>.json   category_mapping.tsv
    rooms/<split>_room_pano_*.txt           plans/<scan>.json

The same config gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path as File

import numpy as np

from babywalk.assets.boxes import write_boxes
from babywalk.assets.categories import write_categories
from babywalk.assets.connectivity import SUFFIX, Connectivity, write_connectivity
from babywalk.assets.dollhouse.catalogue import ROOMS, categories
from babywalk.assets.dollhouse.embedding import embed, semantics
from babywalk.assets.dollhouse.house import EYES, DollHouse, build_house
from babywalk.assets.dollhouse.landmarks import Landmarks
from babywalk.assets.dollhouse.narrator import Narration, narrate
from babywalk.assets.dollhouse.paths import Path, draw_paths
from babywalk.assets.dollhouse.picture import plan_fields
from babywalk.assets.dollhouse.projection import boxes_at
from babywalk.assets.dollhouse.sight import Sight, look
from babywalk.assets.dollhouse.voice import SPEAKERS
from babywalk.assets.fine_grained import FineGrainedWalk, fine_grained_file, write_fine_grained
from babywalk.assets.r2r import Walk, r2r_file, write_walks
from babywalk.assets.rooms import write_rooms
from babywalk.assets.view_features import Panorama, write_view_features
from babywalk.errors import ConfigError
from babywalk.files import write_json
from babywalk.progress import progress
from babywalk.seeding import generator

SPLITS = ("train", "val_seen", "val_unseen", "test")
_UNSEEN_SHARE = 0.2  # of the houses


@dataclass(frozen=True, slots=True)
class DollhouseConfig:
    """How many houses and walks, how wide and noisy the features are, and the seed of it all."""

    houses: int = 30  # every fifth is kept for val_unseen and test, at least one
    seed: int = 0
    width: int = 64  # numbers per view
    noise: float = 0.1  # standard deviation, where a thing that fills the view adds numbers of about 1
    train_paths: int = 60  # per training house
    val_seen_paths: int = 8  # per training house
    val_unseen_paths: int = 30  # per other house
    test_paths: int = 8  # per other house
    instructions: int = 3  # per path, each by another speaker

    def __post_init__(self) -> None:
        least = {
            "houses": 2,
            "seed": 0,
            "width": 1,
            "train_paths": 1,
            "val_seen_paths": 1,
            "val_unseen_paths": 1,
            "test_paths": 1,
            "instructions": 1,
        }
        for name, low in least.items():
            value = getattr(self, name)
            if value < low:
                raise ConfigError(f"Dollhouse: {name} = {value} is too small; it must be at least {low}.")
        if self.houses > 1000:
            raise ConfigError(f"Dollhouse: houses = {self.houses} is too large; it must be at most 1000.")
        if self.instructions > len(SPEAKERS):
            raise ConfigError(
                f"Dollhouse: instructions = {self.instructions} is too large; "
                f"it must be at most {len(SPEAKERS)}, as many as there are speakers."
            )
        if not 0 <= self.noise < np.inf:
            raise ConfigError(
                f"Dollhouse: noise = {self.noise} cannot work; it must be 0 or a positive number."
            )

    @property
    def unseen_houses(self) -> int:
        """How many houses, the last ones, are not for training."""
        return max(1, round(_UNSEEN_SHARE * self.houses))

    def paths(self, house: int) -> dict[str, int]:
        """How many paths of each split are drawn in a house."""
        if house < self.houses - self.unseen_houses:
            return {"train": self.train_paths, "val_seen": self.val_seen_paths}
        return {"val_unseen": self.val_unseen_paths, "test": self.test_paths}


def write_dollhouse(folder: File, config: DollhouseConfig) -> None:
    """Build the houses and write everything into `folder`."""
    talk = _Talk(config)
    rooms: dict[str, dict[tuple[str, str], int]] = {"train": {}, "test": {}}

    def panoramas() -> Iterator[Panorama]:
        for number in progress(range(config.houses), "Building dollhouses", unit="house"):
            house = build_house(config.seed, number)
            sight = look(house)
            _write_house(folder, house, sight)
            talk.about(house, sight, number)
            seen = "train" if "train" in config.paths(number) else "test"
            rooms[seen] |= _room_classes(house)
            yield from _panoramas(house, sight, config)

    write_view_features(folder / "features" / "dollhouse.tsv", panoramas())
    for split in SPLITS:
        walks = talk.walks[split]
        write_walks(r2r_file(folder / "R2R", split), [_shown(item.walk, split) for item in walks])
        if split != "test":  # it would give the secret away
            write_fine_grained(fine_grained_file(folder / "fgr2r", split), walks)
    for split, classes in rooms.items():
        write_rooms(folder / "rooms", split, classes)
    write_categories(folder / "category_mapping.tsv", categories())


@dataclass
class _Talk:
    """The walks of all splits, as the houses come; path ids count through."""

    config: DollhouseConfig
    walks: dict[str, list[FineGrainedWalk]] = field(default_factory=lambda: {split: [] for split in SPLITS})

    def about(self, house: DollHouse, sight: Sight, number: int) -> None:
        """Draw and describe the paths of a house."""
        landmarks = Landmarks(house, sight)
        known: list[tuple[int, ...]] = []
        for split, count in self.config.paths(number).items():
            rng = generator(self.config.seed, "paths", split, number)
            for path in draw_paths(house, count, rng, without=known):
                known.append(path.nodes)
                order = rng.permutation(len(SPEAKERS))[: self.config.instructions]
                told = [narrate(landmarks, path, SPEAKERS[speaker], rng) for speaker in order]
                self.walks[split].append(_walk(house, path, told, sum(map(len, self.walks.values())) + 1))


def _walk(house: DollHouse, path: Path, told: Iterable[Narration], path_id: int) -> FineGrainedWalk:
    told = tuple(told)
    walk = Walk(
        scan=house.scan,
        path_id=path_id,
        path=tuple(house.viewpoints[node] for node in path.nodes),
        heading=path.heading,
        instructions=tuple(narration.text for narration in told),
        distance=path.length,
    )
    return FineGrainedWalk(walk, tuple(narration.steps for narration in told))


def _shown(walk: Walk, split: str) -> Walk:
    """The walk as its split shows it: in a test split only where it starts."""
    if split != "test":
        return walk
    return Walk(walk.scan, walk.path_id, walk.path[:1], walk.heading, walk.instructions)


def _panoramas(house: DollHouse, sight: Sight, config: DollhouseConfig) -> Iterator[Panorama]:
    rng = generator(config.seed, "noise", house.scan)
    views = embed(semantics(house, sight), width=config.width, noise=config.noise, rng=rng)
    for viewpoint, around in zip(house.viewpoints, views, strict=True):
        yield Panorama(house.scan, viewpoint, around)


def _room_classes(house: DollHouse) -> dict[tuple[str, str], int]:
    return {
        (house.scan, viewpoint): 1 + ROOMS.index(house.room_kind(number))
        for number, viewpoint in enumerate(house.viewpoints)
    }


def _write_house(folder: File, house: DollHouse, sight: Sight) -> None:
    graph = Connectivity(
        scan=house.scan,
        viewpoints=house.viewpoints,
        positions=house.positions,
        heights=np.full(len(house.viewpoints), EYES),
        unobstructed=house.unobstructed,
        visible=sight.visible,
    )
    write_connectivity(folder / "connectivity" / f"{house.scan}{SUFFIX}", graph)
    write_json(folder / "plans" / f"{house.scan}.json", plan_fields(house))
    for viewpoint in range(len(house.viewpoints)):
        write_boxes(folder / "BBox", boxes_at(house, sight, viewpoint))
