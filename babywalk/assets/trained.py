"""Trained models that come with the package: small ones, for the built-in data."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "weights"


def built_in_models() -> list[str]:
    """Their names."""
    return sorted(folder.name for folder in _FOLDER.glob("*") if folder.is_dir())


def find_model(name: str | Path) -> Path | None:
    """Where a model is: a path as it is, or one that comes with the package by its name; None for neither."""
    return next((place for place in (Path(name), _FOLDER / name) if place.exists()), None)
