"""Recipes: an experiment as a TOML file that names an agent and what differs from its preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from babywalk.config import from_table, merged
from babywalk.errors import ConfigError, unknown
from babywalk.files import read_toml
from babywalk.training.config import TrainingConfig
from babywalk.training.presets import AGENTS, PRESETS

_PRESET = "small"
_OWN = ("agent", "preset")  # what a recipe says beside settings


@dataclass(frozen=True, slots=True)
class Recipe:
    """An agent, the preset it starts from, and settings over both."""

    agent: str
    preset: str = _PRESET
    settings: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None  # that it was read from

    def __post_init__(self) -> None:
        where = f"{self.file}: agent" if self.file else "Agent"
        if self.agent not in AGENTS:
            raise unknown(where, self.agent, AGENTS)

    def config(self, *, preset: str | None = None, over: Mapping[str, Any] | None = None) -> TrainingConfig:
        """Every setting: the preset's, over them the agent's, the recipe's, and at last those in `over`."""
        chosen = preset or self.preset
        check_preset(chosen, f"{self.file}: preset" if self.file and not preset else "Preset")
        base = merged(merged(PRESETS[chosen], AGENTS[self.agent]), self.settings)
        where = f"{self.agent}, preset {chosen}"
        if self.file:
            # First without what the command line sets: a mistake in the file is told as the file's.
            from_table(TrainingConfig, base, where=str(self.file))
            where += f", {self.file}"
        return from_table(TrainingConfig, merged(base, over or {}), where=where)


def check_preset(name: str, what: str = "Preset") -> None:
    """Refuse a preset that there is not."""
    if name not in PRESETS:
        raise unknown(what, name, PRESETS)


def read_recipe(file: Path) -> Recipe:
    """The recipe in a TOML file."""
    table = read_toml(file)
    known = [*_OWN, *(setting.name for setting in fields(TrainingConfig))]
    for name in table:
        if name not in known:
            raise unknown(f"{file}: setting", name, known)
    if "agent" not in table:
        raise ConfigError(
            f'{file}: names no agent. Add a line such as agent = "babywalk"; '
            f"choose from: {', '.join(AGENTS)}."
        )
    own = {name: table.pop(name) for name in _OWN if name in table}
    for name, value in own.items():
        if not isinstance(value, str):
            raise ConfigError(f"{file}: {name} = {value!r} should be a text.")
    return Recipe(own["agent"], own.get("preset", _PRESET), table, file)
