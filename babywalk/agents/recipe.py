"""Recipes: TOML files with the settings of a run: an agent, a preset, and settings that override both."""

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
from babywalk.training.run_config import FIXED_SETTINGS, is_run, read_run_config, refuse_changes

_DEFAULT_PRESET = "small"
_HEADER = ("agent", "preset")  # keys of a recipe that are not settings


@dataclass(frozen=True, slots=True)
class Recipe:
    """An agent, a preset, and settings that override both."""

    agent: str
    preset: str = _DEFAULT_PRESET
    settings: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None  # where it was read

    def __post_init__(self) -> None:
        where = f"{self.file}: agent" if self.file else "Agent"
        if self.agent not in AGENTS:
            raise unknown(where, self.agent, AGENTS)

    def config(self, *, preset: str | None = None, over: Mapping[str, Any] | None = None) -> TrainingConfig:
        """All settings. Each overrides those before it: preset, agent, recipe, `over`."""
        chosen = preset or self.preset
        check_preset(chosen, f"{self.file}: preset" if self.file and not preset else "Preset")
        base = merged(merged(PRESETS[chosen], AGENTS[self.agent].settings), self.settings)
        where = f"{self.agent}, preset {chosen}"
        if self.file:
            # First without the settings of the command line, so that an error in the file names the file.
            from_table(TrainingConfig, base, where=str(self.file))
            where += f", {self.file}"
        return from_table(TrainingConfig, merged(base, over or {}), where=where)


def check_preset(name: str, what: str = "Preset") -> None:
    """Raise an error if there is no such preset."""
    if name not in PRESETS:
        raise unknown(what, name, PRESETS)


def read_recipe(file: Path) -> Recipe:
    """The recipe in a TOML file."""
    table = read_toml(file)
    known = [*_HEADER, *(setting.name for setting in fields(TrainingConfig))]
    for name in table:
        if name not in known:
            raise unknown(f"{file}: setting", name, known)
    if "agent" not in table:
        raise ConfigError(
            f'{file}: names no agent. Add a line such as agent = "babywalk"; '
            f"choose from: {', '.join(AGENTS)}."
        )
    header = {name: table.pop(name) for name in _HEADER if name in table}
    for name, value in header.items():
        if not isinstance(value, str):
            raise ConfigError(f"{file}: {name} = {value!r} should be a string.")
    return Recipe(header["agent"], header.get("preset", _DEFAULT_PRESET), table, file)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of a run, and where they come from."""

    config: TrainingConfig
    recipe: str | None
    preset: str | None
    changed: tuple[str, ...] = ()  # names of the settings that a resumed run changes


def run_settings(
    recipe: Recipe, run: Path, preset: str | None, over: Mapping[str, Any], resume: bool
) -> RunSettings:
    """The settings of a new run, or of one that is resumed."""
    if not is_run(run):
        if resume:
            raise ConfigError(f"{run}: contains no run to resume. Leave --resume out to start one.")
        # Hidden files are locks and unfinished files of a killed process.
        if run.is_dir() and any(not file.name.startswith(".") for file in run.iterdir()):
            raise ConfigError(f"{run}: is not empty and contains no run. Give --run a new folder.")
        config = recipe.config(preset=preset, over=over)
        return RunSettings(config, recipe.file.name if recipe.file else None, preset or recipe.preset)
    if not resume:
        raise ConfigError(f"{run}: already contains a run. Give --resume to continue it, or another --run.")
    run_config = read_run_config(run)
    if run_config.agent != recipe.agent:
        raise ConfigError(f"{run}: is a run of {run_config.agent!r}, not of {recipe.agent!r}.")
    if preset:
        check_preset(preset)
        if run_config.preset not in (None, preset):
            raise ConfigError(
                f"{run}: was started with preset {run_config.preset!r} and keeps its settings. "
                "Leave --preset out, or start another run."
            )
    config = run_config.config(over)
    changed = differing_settings(config, run_config.config())
    refuse_changes(run, [name for name in changed if name.partition(".")[0] in FIXED_SETTINGS])
    return RunSettings(config, run_config.recipe, run_config.preset, tuple(changed))
