"""Train a speaker and let it describe new paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import babywalk.common.needs_torch  # noqa: F401
from babywalk.agents.learned import observer_for
from babywalk.training.presets import PRESETS
from babywalk.assets.data_directory import SPEAKER, details
from babywalk.buildings.features import LOOKAHEAD
from babywalk.commands.align import default_features
from babywalk.common.config import from_table, merged
from babywalk.common.errors import ConfigError
from babywalk.episodes.augmentation import check_split, described, draw_unspoken, keep_split
from babywalk.episodes.dataset import Dataset
from babywalk.modules.speaker import Speaker, SpeakerConfig, load_speaker
from babywalk.navigation.observation import Observer
from babywalk.training.speaker import perplexity, train_speaker


@dataclass(frozen=True, slots=True)
class Augmented:
    """What a speaker made of a data directory."""

    split: str
    walks: int
    perplexity: dict[str, float]  # of what people said, by split
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
) -> Augmented:
    """Let a speaker describe new walks of the training houses, and keep them as a split.

    The speaker is learned first if there is none for these features and settings.
    """
    if not (temperature == 0 or 0.01 <= temperature <= 100):
        raise ConfigError(
            f"A temperature of {temperature} cannot work. Give 0 for the likeliest words, or 0.01 to 100."
        )
    dataset = Dataset(folder)
    check_split(dataset, split)
    spec, usual = _sight(folder, features)
    config = from_table(SpeakerConfig, merged(usual, settings or {}), where="--set")
    observer = observer_for(spec, dataset, gain=config.feature_gain)
    people = [dataset.walks("train")]
    if "val_seen" in dataset.splits:
        people.append(dataset.walks("val_seen"))
    paths, headings = draw_unspoken(dataset.houses, people, walks, seed=seed)
    speaker = _speaker(dataset, spec, observer, config)
    texts = speaker.describe(paths, headings, dataset.houses, observer, temperature=temperature, seed=seed)
    facts = {"seed": seed, "temperature": temperature, "features": spec}
    keep_split(dataset, split, described(paths, headings, texts, dataset.houses), facts)
    held = [
        name for name in ("val_seen", "val_unseen") if name in dataset.splits and len(dataset.walks(name))
    ]
    return Augmented(
        split,
        len(paths),
        {name: perplexity(speaker, dataset, name, observer) for name in held},
        tuple(texts[:: max(1, len(texts) // 3)][:3]),
    )


def _sight(folder: Path, features: str | None) -> tuple[str, dict[str, float]]:
    """What a speaker sees, and the settings for it: as agents of real houses, where there are named objects.

    Objects are faint, and have no side; other features are as they are, in houses as they are.
    """
    spec, objects = default_features(folder, features), PRESETS["objects"]
    if features is None and spec == "objects":
        spec = str(objects["features"])
    if {part.partition(":")[0] for part in spec.split("+")} <= {"objects", LOOKAHEAD}:
        return spec, {"feature_gain": float(objects["policy"]["feature_gain"]), "mirror": 0.5}
    return spec, {}


def _speaker(dataset: Dataset, spec: str, observer: Observer, config: SpeakerConfig) -> Speaker:
    """The speaker that was learned for a feature spec and settings; learned now if there is none."""
    folder = dataset.folder / SPEAKER
    if folder.is_dir() and details(folder).string("features") == spec:
        kept = load_speaker(folder, observer)
        if kept.config == config:
            return kept
    learned = train_speaker(dataset, spec, observer, config)
    learned.save(folder)
    return learned
