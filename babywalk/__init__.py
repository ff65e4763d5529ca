"""BabyWalk: vision-and-language navigation by taking Baby-Steps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from babywalk.policies.learned import LearnedAgent

__version__ = "0.1.0"


def load(model: str | Path, data: str | Path | None = None) -> LearnedAgent:
    """A trained agent, from a run, published weights or a model's file, in the houses of a data directory.

    The data default to those that a run was trained on. Loaded where it is used: importing the package
    itself costs nothing.
    """
    from babywalk.experiments import load_agent

    return load_agent(Path(model), Path(data) if data is not None else None)
