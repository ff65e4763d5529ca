"""Recipes: an experiment as a TOML file that names an agent and what differs from its preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from babywalk.agents.table import AGENTS
from babywalk.common.config import differing_settings, from_table, merged
from babywalk.common.errors import ConfigError, unknown
from babywalk.common.files import read_toml
from babywalk.training.config import TrainingConfig
from babywalk.training.presets import PRESETS
from babywalk.training.run_config import FOR_GOOD, is_run, read_run_config, refuse_changes

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
        base = merged(merged(PRESETS[chosen], AGENTS[self.agent].settings), self.settings)
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


@dataclass(frozen=True, slots=True)
class Beginning:
    """The settings of a run, and where they came from."""

    config: TrainingConfig
    recipe: str | None
    preset: str | None
    changed: tuple[str, ...] = ()  # names of those that differ from what the run was begun with


def beginning(
    recipe: Recipe, run: Path, preset: str | None, over: Mapping[str, Any], resume: bool
) -> Beginning:
    """Of a new run, or of one that goes on."""
    if not is_run(run):
        if resume:
            raise ConfigError(f"{run}: holds no run to go on with. Leave --resume out to begin one.")
        # Hidden files are locks, and what a killed process had not finished.
        if run.is_dir() and any(not file.name.startswith(".") for file in run.iterdir()):
            raise ConfigError(f"{run}: is not empty, and holds no run. Give --run a new folder.")
        config = recipe.config(preset=preset, over=over)
        return Beginning(config, recipe.file.name if recipe.file else None, preset or recipe.preset)
    if not resume:
        raise ConfigError(f"{run}: holds a run already. Give --resume to go on with it, or another --run.")
    run_config = read_run_config(run)
    if run_config.agent != recipe.agent:
        raise ConfigError(f"{run}: was begun as {run_config.agent!r}, not as {recipe.agent!r}.")
    if preset:
        check_preset(preset)
        if run_config.preset not in (None, preset):
            raise ConfigError(
                f"{run}: was begun with preset {run_config.preset!r}, and goes on with its settings. "
                "Leave --preset out, or begin another run."
            )
    config = run_config.config(over)
    changed = differing_settings(config, run_config.config())
    refuse_changes(run, [name for name in changed if name.partition(".")[0] in FOR_GOOD])
    return Beginning(config, run_config.recipe, run_config.preset, tuple(changed))
