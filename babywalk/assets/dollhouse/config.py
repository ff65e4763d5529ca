"""The settings of a dollhouse data set."""

from __future__ import annotations

import math
from dataclasses import dataclass

from babywalk.assets.dollhouse.voice import SPEAKERS
from babywalk.common.errors import ConfigError

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
        counts = ("train_paths", "val_seen_paths", "val_unseen_paths", "test_paths")
        limits = {
            "houses": (2, 1000),
            "seed": (0, None),
            "width": (1, None),
            "noise": (0, None),
            **dict.fromkeys(counts, (1, None)),
            "instructions": (1, len(SPEAKERS)),  # each is by another speaker
        }
        wrong = []
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if not low <= value < math.inf:
                wrong.append(f"{name} = {value} cannot work; it must be at least {low}.")
            elif high is not None and value > high:
                wrong.append(f"{name} = {value} cannot work; it must be at most {high}.")
        if wrong:
            raise ConfigError(f"Dollhouse: {' '.join(wrong)}")

    @property
    def unseen_houses(self) -> int:
        """How many houses, the last ones, are not for training."""
        return max(1, round(_UNSEEN_SHARE * self.houses))

    def paths(self, house: int) -> dict[str, int]:
        """How many paths of each split are drawn in a house, the smaller split first.

        So it gets its share even where the larger one would take all paths there are.
        """
        if house < self.houses - self.unseen_houses:
            return {"val_seen": self.val_seen_paths, "train": self.train_paths}
        return {"test": self.test_paths, "val_unseen": self.val_unseen_paths}
