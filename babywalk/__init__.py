"""BabyWalk: vision-and-language navigation by taking Baby-Steps."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from babywalk.common.version import __version__

if TYPE_CHECKING:
    from babywalk.agents.learned import LearnedAgent

__all__ = ["__version__", "load"]


def load(
    model: str | Path,
    data: str | Path | None = None,
    *,
    device: str = "auto",
    kernels: str = "auto",
) -> LearnedAgent:
    """A trained agent, by run directory, model file or name, in the houses of a data directory.

    The data default to those of its training. `device` is auto, cpu or cuda; `kernels` is auto, or
    plain for the network without CPU kernels.
    """
    # Imported late, so that importing the package is quick and does not need torch.
    from babywalk.commands.follow import load_agent
    from babywalk.common.errors import ConfigError

    if not isinstance(model, (str, PathLike)):
        raise ConfigError(
            f"The model {model!r} is not a path. Give a run directory, a model file, or 'dollhouse'."
        )
    if not isinstance(data, (str, PathLike, type(None))):
        raise ConfigError(f"The data {data!r} are not a path. Give a data directory.")
    folder = None if data is None else Path(data)
    return load_agent(Path(model), folder, device=device, kernels=kernels)
