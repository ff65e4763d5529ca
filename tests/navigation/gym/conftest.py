"""Environments of the built-in dataset."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import babywalk.navigation.gym  # noqa: F401 (registers)
from babywalk.episodes.dataset import Dataset


@pytest.fixture(scope="session")
def dataset(dollhouse: Path) -> Dataset:
    """The built-in dataset, read once."""
    return Dataset(dollhouse)


@pytest.fixture
def make(dataset: Dataset) -> Callable[..., Any]:
    """Make an unwrapped environment; by default of a small split and without features."""

    def made(name: str = "R2R", **keywords: Any) -> Any:
        chosen = {"data": dataset, "split": "val_unseen", "features": "none"} | keywords
        return gymnasium.make(f"babywalk/{name}-v0", **chosen).unwrapped

    return made


@pytest.fixture
def make_vec(dataset: Dataset) -> Callable[..., Any]:
    """Make a vector environment with the same defaults."""

    def made(name: str = "R2R", **keywords: Any) -> Any:
        chosen = {"data": dataset, "split": "val_unseen", "features": "none"} | keywords
        return gymnasium.make_vec(f"babywalk/{name}-v0", **chosen)

    return made
