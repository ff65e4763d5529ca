"""What a run was begun with: the `config.json` in its directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from babywalk.assets.records import Record
from babywalk.config import differing, from_table, merged
from babywalk.errors import ConfigError, DataError
from babywalk.files import read_json, write_json
from babywalk.training.config import TrainingConfig
from babywalk.training.recipe import Recipe, check_preset

_FILE = "config.json"
_FOR_GOOD = ("task", "features", "seed", "begin_from", "policy")  # settings that a run keeps to its end


@dataclass(frozen=True, slots=True)
class Begun:
    """An agent, its data and every setting."""

    agent: str
    recipe: str | None  # the name of the file, where there was one
    preset: str | None  # None where nobody wrote it down
    data: Path
    settings: dict[str, Any]
    file: Path  # that says so

    def config(self, over: Mapping[str, Any] | None = None) -> TrainingConfig:
        """The settings, with others over them."""
        return from_table(TrainingConfig, merged(self.settings, over or {}), where=str(self.file))


def has_begun(run: Path) -> bool:
    """Whether a directory holds a run."""
    return (run / _FILE).is_file()


def run_of(model: Path) -> Path | None:
    """The run that a path is, or that a model's file lies in; None where there is no run."""
    places = model.absolute().parents[:2] if model.is_file() else (model,)  # the model, and best/<stage>
    return next((place for place in places if has_begun(place)), None)


def read_begun(run: Path) -> Begun:
    """What a run was begun with."""
    if not has_begun(run):
        raise DataError(f"{run}: is no run's directory: there is no {_FILE} in it.")
    file = run / _FILE
    record = Record.of(file, "the run", read_json(file))
    settings = dict(record.fields)
    agent, data = record.text("agent"), Path(record.text("data"))
    recipe, preset = settings.get("recipe"), settings.get("preset")
    for name in ("agent", "data", "recipe", "preset"):
        settings.pop(name, None)
    return Begun(agent, recipe, preset, data, settings, file)


def write_begun(
    run: Path, *, agent: str, recipe: str | None, preset: str | None, data: Path, config: TrainingConfig
) -> None:
    """Keep what a run is begun with."""
    about = {"agent": agent, "recipe": recipe, "preset": preset, "data": str(data.resolve())}
    write_json(run / _FILE, {**about, **asdict(config)})


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
    if not has_begun(run):
        if resume:
            raise ConfigError(f"{run}: holds no run to go on with. Leave --resume out to begin one.")
        # Hidden files are locks, and what a killed process had not finished.
        if run.is_dir() and any(not file.name.startswith(".") for file in run.iterdir()):
            raise ConfigError(f"{run}: is not empty, and holds no run. Give --run a new folder.")
        config = recipe.config(preset=preset, over=over)
        return Beginning(config, recipe.file.name if recipe.file else None, preset or recipe.preset)
    if not resume:
        raise ConfigError(f"{run}: holds a run already. Give --resume to go on with it, or another --run.")
    begun = read_begun(run)
    if begun.agent != recipe.agent:
        raise ConfigError(f"{run}: was begun as {begun.agent!r}, not as {recipe.agent!r}.")
    if preset:
        check_preset(preset)
        if begun.preset not in (None, preset):
            raise ConfigError(
                f"{run}: was begun with preset {begun.preset!r}, and goes on with its settings. "
                "Leave --preset out, or begin another run."
            )
    config = begun.config(over)
    changed = differing(config, begun.config())
    refuse_changes(run, [name for name in changed if name.partition(".")[0] in _FOR_GOOD])
    return Beginning(config, begun.recipe, begun.preset, tuple(changed))


def refuse_changes(run: Path, names: Sequence[str]) -> None:
    """Say that settings of these names, if any, came too late."""
    if names:
        raise ConfigError(
            f"{run}: {', '.join(names)} cannot be changed any more. Leave it out, or begin another run."
        )
