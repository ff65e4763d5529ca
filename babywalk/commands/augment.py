"""Data augmentation: train a speaker and let it describe sampled paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import babywalk.common.needs_torch  # noqa: F401
from babywalk.assets.data_directory import SPEAKER, details
from babywalk.buildings.features import LOOKAHEAD
from babywalk.commands.align import default_features
from babywalk.common.config import from_table, merged
from babywalk.common.errors import ConfigError
from babywalk.episodes.augmentation import check_split, described_walks, sample_paths, save_split
from babywalk.episodes.dataset import Dataset
from babywalk.modules.speaker import Speaker, SpeakerConfig, load_speaker
from babywalk.navigation.world import poses_at
from babywalk.training.presets import PRESETS
from babywalk.training.speaker import perplexity, train_speaker


@dataclass(frozen=True, slots=True)
class AugmentedSplit:
    """A split of walks that a speaker described."""

    split: str
    walks: int
    perplexity: dict[str, float]  # of the human instructions, by split
    examples: tuple[str, ...]


def augment(
    folder: Path,
    walks: int,
    split: str,
    *,
    features: str | None = None,
    temperature: float = 0.0,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
) -> AugmentedSplit:
    """Sample new walks in the training houses, let a speaker describe them, and store them as a split.

    The speaker is trained first unless one with these features and settings is stored.
    """
    if not (temperature == 0 or 0.01 <= temperature <= 100):
        raise ConfigError(
            f"temperature = {temperature} is out of range. Give 0, for the most likely words, or 0.01 to 100."
        )
    dataset = Dataset(folder)
    check_split(dataset, split)
    spec, defaults = _speaker_defaults(folder, features)
    config = from_table(SpeakerConfig, merged(defaults, settings or {}), where="--set")
    known = [dataset.walks("train")]
    if "val_seen" in dataset.splits:
        known.append(dataset.walks("val_seen"))
    paths, headings = sample_paths(dataset.houses, known, walks, seed=seed)
    speaker = _speaker(dataset, spec, config)
    views = poses_at(paths.firsts, headings).view
    texts = speaker.describe(paths, views, temperature=temperature, seed=seed)
    facts = {"seed": seed, "temperature": temperature, "features": spec}
    save_split(dataset, split, described_walks(paths, headings, texts, dataset.houses), facts)
    validation = [
        name for name in ("val_seen", "val_unseen") if name in dataset.splits and len(dataset.walks(name))
    ]
    return AugmentedSplit(
        split,
        len(paths),
        {name: perplexity(speaker, dataset, name) for name in validation},
        tuple(texts[:: max(1, len(texts) // 3)][:3]),
    )


def _speaker_defaults(folder: Path, features: str | None) -> tuple[str, dict[str, float]]:
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


def _speaker(dataset: Dataset, spec: str, config: SpeakerConfig) -> Speaker:
    """The stored speaker if it has these features and settings; else one that is trained now and stored."""
    folder = dataset.folder / SPEAKER
    if folder.is_dir() and details(folder).string("features") == spec:
        stored = load_speaker(folder, dataset)
        if stored.config == config:
            return stored
    trained = train_speaker(dataset, spec, config)
    trained.save(folder)
    return trained
