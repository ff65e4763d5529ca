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
from babywalk.assets.dollhouse.config import SPLITS, DollhouseConfig
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
from babywalk.common.files import write_json
from babywalk.common.progress import progress
from babywalk.common.seeding import generator


def write_dollhouse(folder: File, config: DollhouseConfig) -> None:
    """Build the houses and write everything into `folder`."""
    talk = _Talk(config)
    rooms: dict[str, dict[tuple[str, str], int]] = {"train": {}, "test": {}}

    def panoramas() -> Iterator[Panorama]:
        # One house at a time, all its files at once, so that memory does not grow with their number.
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
