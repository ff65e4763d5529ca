"""The configuration of a run: the `config.json` in its directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from babywalk.assets.records import Record
from babywalk.common.config import from_table, merged
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import check_signed, read_json, signed, write_json
from babywalk.training.config import TrainingConfig

_FILE = "config.json"
_FORMAT = 2
FIXED_SETTINGS = ("task", "features", "seed", "init_from", "policy")  # a resumed run cannot change them


@dataclass(frozen=True, slots=True)
class RunConfig:
    """An agent, its data and every setting."""

    agent: str
    recipe: str | None  # the name of the recipe file, if there was one
    preset: str | None  # None if unknown
    data: Path
    settings: dict[str, Any]
    file: Path  # where it was read

    def config(self, over: Mapping[str, Any] | None = None) -> TrainingConfig:
        """The settings, overridden by those in `over`."""
        return from_table(TrainingConfig, merged(self.settings, over or {}), where=str(self.file))


def config_file(run: Path) -> Path:
    """The file that makes a directory a run."""
    return run / _FILE


def is_run(run: Path) -> bool:
    """Whether a directory contains a run."""
    return config_file(run).is_file()


def run_of(model: Path) -> Path | None:
    """The run directory that a path is, or that contains a model file; None if there is none."""
    # A model file is in the run directory or in its folder best/.
    places = model.absolute().parents[:2] if model.is_file() else (model,)
    return next((place for place in places if is_run(place)), None)


def read_run_config(run: Path) -> RunConfig:
    """The configuration of a run."""
    if not is_run(run):
        raise DataError(f"{run}: is not a run directory: it contains no {_FILE}.")
    file = run / _FILE
    record = Record.of(file, "the run", read_json(file))
    _check_format(record)
    settings = check_signed(
        file, record.fields, "Restore it; settings of a resumed run are changed with --set."
    )
    agent, data = record.string("agent"), Path(record.string("data"))
    recipe, preset = (record.string(name) if settings.get(name) else None for name in ("recipe", "preset"))
    for name in ("format", "agent", "data", "recipe", "preset"):
        settings.pop(name, None)
    return RunConfig(agent, recipe, preset, data, settings, file)


def write_run_config(
    run: Path, *, agent: str, recipe: str | None, preset: str | None, data: Path, config: TrainingConfig
) -> None:
    """Write the configuration of a run."""
    about = {
        "format": _FORMAT,
        "agent": agent,
        "recipe": recipe,
        "preset": preset,
        "data": str(data.resolve()),
    }
    write_json(run / _FILE, signed({**about, **asdict(config)}))


def refuse_changes(run: Path, names: Sequence[str]) -> None:
    """Raise an error if there are names of settings that a resumed run has changed."""
    if names:
        raise ConfigError(
            f"{run}: {', '.join(names)} can no longer be changed. Leave it out, or start another run."
        )


def _check_format(record: Record) -> None:
    found = record.fields.get("format")
    if found is None:
        raise ConfigError(
            f"{record.file}: was written by an older version of BabyWalk. Train the run again, "
            "or convert its model with tools/convert_weights.py."
        )
    if found != _FORMAT:
        raise ConfigError(
            f"{record.file}: has the format {found!r}; expected {_FORMAT}. "
            "It was written by another version of BabyWalk."
        )
