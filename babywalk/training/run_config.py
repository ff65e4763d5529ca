"""What a run was begun with: the `config.json` in its directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from babywalk.assets.records import Record
from babywalk.common.config import from_table, merged
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import read_json, write_json
from babywalk.training.config import TrainingConfig

_FILE = "config.json"
FOR_GOOD = ("task", "features", "seed", "init_from", "policy")  # settings that a run keeps to its end


@dataclass(frozen=True, slots=True)
class RunConfig:
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


def is_run(run: Path) -> bool:
    """Whether a directory holds a run."""
    return (run / _FILE).is_file()


def run_of(model: Path) -> Path | None:
    """The run that a path is, or that a model's file lies in; None where there is no run."""
    places = model.absolute().parents[:2] if model.is_file() else (model,)  # the model, and best/<stage>
    return next((place for place in places if is_run(place)), None)


def read_run_config(run: Path) -> RunConfig:
    """What a run was begun with."""
    if not is_run(run):
        raise DataError(f"{run}: is no run's directory: there is no {_FILE} in it.")
    file = run / _FILE
    record = Record.of(file, "the run", read_json(file))
    settings = dict(record.fields)
    agent, data = record.string("agent"), Path(record.string("data"))
    recipe, preset = settings.get("recipe"), settings.get("preset")
    for name in ("agent", "data", "recipe", "preset"):
        settings.pop(name, None)
    return RunConfig(agent, recipe, preset, data, settings, file)


def write_run_config(
    run: Path, *, agent: str, recipe: str | None, preset: str | None, data: Path, config: TrainingConfig
) -> None:
    """Keep what a run is begun with."""
    about = {"agent": agent, "recipe": recipe, "preset": preset, "data": str(data.resolve())}
    write_json(run / _FILE, {**about, **asdict(config)})


def refuse_changes(run: Path, names: Sequence[str]) -> None:
    """Say that settings of these names, if any, came too late."""
    if names:
        raise ConfigError(
            f"{run}: {', '.join(names)} cannot be changed any more. Leave it out, or begin another run."
        )
