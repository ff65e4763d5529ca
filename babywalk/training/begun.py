"""What a run was begun with: the `config.json` in its directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from babywalk.assets.records import Record
from babywalk.config import from_table, merged
from babywalk.errors import DataError
from babywalk.files import read_json, write_json
from babywalk.training.config import TrainingConfig

_FILE = "config.json"


@dataclass(frozen=True, slots=True)
class Begun:
    """An agent, its data and every setting."""

    agent: str
    recipe: str | None  # the name of the file, where there was one
    data: Path
    settings: dict[str, Any]
    file: Path  # that says so

    def config(self, over: Mapping[str, Any] | None = None) -> TrainingConfig:
        """The settings, with others over them."""
        return from_table(TrainingConfig, merged(self.settings, over or {}), where=str(self.file))


def has_begun(run: Path) -> bool:
    """Whether a directory holds a run."""
    return (run / _FILE).is_file()


def read_begun(run: Path) -> Begun:
    """What a run was begun with."""
    if not has_begun(run):
        raise DataError(f"{run}: is no run's directory: there is no {_FILE} in it.")
    file = run / _FILE
    record = Record.of(file, "the run", read_json(file))
    settings = dict(record.fields)
    agent, data = record.text("agent"), Path(record.text("data"))
    recipe = settings.get("recipe")
    for name in ("agent", "data", "recipe"):
        settings.pop(name, None)
    return Begun(agent, recipe, data, settings, file)


def write_begun(run: Path, *, agent: str, recipe: str | None, data: Path, config: TrainingConfig) -> None:
    """Keep what a run is begun with."""
    about = {"agent": agent, "recipe": recipe, "data": str(data.resolve())}
    write_json(run / _FILE, {**about, **asdict(config)})
