"""What a user chooses when making an environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from os import PathLike
from typing import Any

from babywalk.common.errors import ConfigError, unknown
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.joining import joint
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.navigation.gym.rewards import REWARDS

ROOMS_PER_WALK = 2
STEPS_PER_ROOM = 5
WORDS_PER_ROOM = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The keywords of an environment; None stands for a default that depends on the task or the data."""

    data: str | PathLike[str] | Dataset
    task: str = "r2r"
    split: str = "train"  # or "train:500", a seeded sample
    features: str | None = None  # a spec of view features; None: the first source there is, else "none"
    max_steps: int | None = None  # None: 5 per room
    max_words: int | None = None  # None: 50 per room
    reward: str = "goal"
    vocabulary: Vocabulary | None = None  # None: that of the training walks

    def __post_init__(self) -> None:
        joint(self.task)
        if self.reward not in REWARDS:
            raise unknown("Reward", self.reward, REWARDS)
        for name in ("max_steps", "max_words"):
            given = getattr(self, name)
            if given is not None and given < 1:
                raise ConfigError(f"{name} = {given} cannot work; expected 1 or more.")

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Settings:
        """From keywords, which must all be known."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise unknown("Keyword", name, known)
        for field in fields(cls):
            if field.default is MISSING and field.name not in given:
                raise ConfigError(f"An environment needs the keyword {field.name!r}, a data directory.")
        return cls(**given)

    @property
    def rooms(self) -> int:
        """How many rooms a walk of the task visits."""
        return ROOMS_PER_WALK * joint(self.task).walks

    @property
    def steps(self) -> int:
        """After how many steps a walk is cut off."""
        return self.max_steps or STEPS_PER_ROOM * self.rooms

    @property
    def words(self) -> int:
        """How many words of an instruction are shown as tokens."""
        return self.max_words or WORDS_PER_ROOM * self.rooms
