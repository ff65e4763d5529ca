"""Trained models that come with the package: small ones, for the built-in data."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "weights"
_HELD = ("model.safetensors", "config.json")  # one of them is in every folder of a model or a run


def built_in_models() -> list[str]:
    """Their names."""
    return sorted(folder.name for folder in _FOLDER.glob("*") if folder.is_dir())


def find_model(name: str | Path) -> Path | None:
    """Where a model is: a path as it is, or one that comes with the package by its name; None for neither.

    A folder of that name which holds neither a model nor a run does not hide one of the package.
    """
    places = [place for place in (Path(name), _FOLDER / name) if place.exists()]
    held = [place for place in places if place.is_file() or any((place / file).exists() for file in _HELD)]
    return next(iter([*held, *places]), None)
