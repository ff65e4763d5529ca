"""Train a speaker, measure it, and let it describe one path."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import babywalk.common.needs_torch  # noqa: F401
from babywalk.assets.data_directory import CACHE, FEATURES, MANIFEST, SPEAKER, WORD_VECTORS
from babywalk.assets.r2r import SPLITS
from babywalk.buildings.features import LOOKAHEAD
from babywalk.buildings.houses import NOWHERE, Houses
from babywalk.commands.align import default_features
from babywalk.commands.follow import load_agent
from babywalk.common.config import from_table, merged
from babywalk.common.errors import ConfigError, unknown
from babywalk.common.files import exclusive_lock, sha256
from babywalk.common.ragged import Ragged
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.vocabulary import END
from babywalk.evaluation.evaluate import check_goals
from babywalk.evaluation.speaker_quality import SpeakerQuality, speaker_quality
from babywalk.modules.speaker import Speaker, SpeakerConfig, load_speaker, open_speaker
from babywalk.navigation.world import poses_at
from babywalk.training.presets import PRESETS
from babywalk.training.speaker import train_speaker

DEVICE = "cpu"  # always, so that a speaker that was trained now and one that is read give the same texts


@dataclass(frozen=True, slots=True)
class Description:
    """What a speaker says of a path."""

    house: str
    path: tuple[str, ...]
    text: str
    words: tuple[tuple[str, float], ...]  # with the probability of each after those before it; END last
    log_probability: float  # the sum over words


def report_speaker(
    folder: Path,
    *,
    features: str | None = None,
    settings: Mapping[str, Any] | None = None,
    splits: Sequence[str] | None = None,
    follower: Path | None = None,
) -> list[SpeakerQuality]:
    """The quality of the speaker of a data directory on splits, by default the validation splits.

    It is trained first if none is stored, or if other features or settings are given. With a follower, a run
    directory, its success on the speaker's texts is compared with that on human ones.
    """
    dataset = Dataset(folder)
    chosen = splits or [split for split in SPLITS[1:3] if split in dataset.splits]
    for split in chosen:
        check_goals(dataset.task("r2r", split))
    agent = load_agent(follower, folder) if follower else None
    speaker = prepared_speaker(dataset, features, settings)
    return [speaker_quality(speaker, dataset, split, agent) for split in chosen]


def describe_path(folder: Path, house: str, path: Sequence[str], *, degrees: float = 0.0) -> Description:
    """Describe a path of viewpoints with the stored speaker; the start heading is 0 for north, 90 east."""
    dataset = Dataset(folder)
    numbers = _checked_path(dataset.houses, house, path)
    speaker = open_speaker(dataset, device=DEVICE)
    paths = Ragged.of([numbers])
    views = poses_at(paths.firsts, np.radians([degrees])).view
    ((words,),) = speaker.generate(paths, views)
    probabilities = speaker.word_probabilities(paths, views, Ragged.of([words]))
    names = [speaker.vocabulary.words[word] for word in words]
    return Description(
        house=house,
        path=tuple(path),
        text=speaker.text_of(words),
        words=tuple(zip([*names, END], probabilities.tolist(), strict=True)),
        log_probability=float(np.log(probabilities).sum()),
    )


def prepared_speaker(
    dataset: Dataset, features: str | None = None, settings: Mapping[str, Any] | None = None
) -> Speaker:
    """The stored speaker if it has these features and settings; else one that is trained now and stored.

    Without features and settings any stored speaker is taken. A training that is interrupted is resumed by
    the next call with the same arguments and data.
    """
    folder = dataset.folder / SPEAKER
    if folder.is_dir() and features is None and not settings:
        return open_speaker(dataset, device=DEVICE)
    spec, defaults = _defaults(dataset.folder, features)
    config = from_table(SpeakerConfig, merged(defaults, settings or {}), where="--set")
    if folder.is_dir():
        stored = load_speaker(folder, dataset, device=DEVICE)
        if (stored.features, stored.config) == (spec, config):
            return stored
    work = dataset.folder / CACHE / SPEAKER
    with exclusive_lock(work):
        checkpoint = work / f"training-{_training_key(dataset, spec, config)}.safetensors"
        speaker = train_speaker(dataset, spec, config, checkpoint=checkpoint)
        speaker.save(folder)
        checkpoint.unlink(missing_ok=True)
    return speaker


def _training_key(dataset: Dataset, spec: str, config: SpeakerConfig) -> str:
    """Stands for everything that a training depends on."""
    folders = [dataset.folder / WORD_VECTORS, *sorted((dataset.folder / FEATURES).glob("*"))]
    manifests = [folder / MANIFEST for folder in folders if (folder / MANIFEST).is_file()]
    data = [dataset.houses.key, dataset.walks_hash("train"), *map(sha256, manifests)]
    return hashlib.sha256(json.dumps([spec, asdict(config), data]).encode()).hexdigest()[:16]


def _defaults(folder: Path, features: str | None) -> tuple[str, dict[str, float]]:
    """The features of a speaker and its default settings for them.

    Object features have a low norm and no left or right: they are scaled, as for agents with the preset
    `objects`, and walks are mirrored.
    """
    spec, objects = default_features(folder, features), PRESETS["objects"]
    if features is None and spec == "objects":
        spec = str(objects["features"])
    if {part.partition(":")[0] for part in spec.split("+")} <= {"objects", LOOKAHEAD}:
        return spec, {"feature_gain": float(objects["policy"]["feature_gain"]), "mirror": 0.5}
    return spec, {}


def _checked_path(houses: Houses, house: str, path: Sequence[str]) -> list[int]:
    """The viewpoints of a path along edges of a house."""
    numbers = houses.viewpoints(house)
    if not path:
        raise ConfigError("The path has no viewpoints. Give at least one.")
    for name in path:
        if name not in numbers:
            raise unknown(f"Viewpoint of {house}", name, numbers)
    found = [numbers[name] for name in path]
    for here, there in pairwise(found):
        if not houses.adjacent(np.array(here), np.array(there)):
            near = [houses.names[other] for other in houses.neighbours[here] if other != NOWHERE]
            raise ConfigError(
                f"The path goes from {houses.names[here]!r} to {houses.names[there]!r}, which are not "
                f"neighbours. Neighbours of {houses.names[here]!r}: {', '.join(near) or '(none)'}."
            )
    return found
