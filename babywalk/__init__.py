"""BabyWalk: vision-and-language navigation by taking Baby-Steps."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from babywalk.common.version import __version__

if TYPE_CHECKING:
    from babywalk.agents.learned import LearnedAgent

__all__ = ["__version__", "load"]


def load(model: str | Path, data: str | Path | None = None) -> LearnedAgent:
    """A trained agent, from a run, published weights or a model's file, in the houses of a data directory.

    The data default to those that the run was trained on, also for a model's file that lies in a run. Loaded
    where it is used: importing the package itself costs nothing.
    """
    from babywalk.commands.follow import load_agent
    from babywalk.common.errors import ConfigError

    if not isinstance(model, (str, PathLike)):
        raise ConfigError(
            f"The model {model!r} is no path. Give a run's directory, a model's file, or 'dollhouse'."
        )
    if not isinstance(data, (str, PathLike, type(None))):
        raise ConfigError(f"The data {data!r} are no path. Give a data directory.")
    return load_agent(Path(model), Path(data) if data is not None else None)
