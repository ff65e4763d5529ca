"""Pretrained models that ship with the package."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parents[1] / "weights"
_MODEL_FILES = ("model.safetensors", "config.json")  # every model or run folder has at least one


def built_in_models() -> list[str]:
    """The names of the pretrained models."""
    return sorted(folder.name for folder in _FOLDER.glob("*") if folder.is_dir())


def find_model(name: str | Path) -> Path | None:
    """The path of a model: `name` if it exists, else the pretrained model of that name; None for neither.

    A folder `name` that is neither a model nor a run does not shadow a pretrained model.
    """
    places = [place for place in (Path(name), _FOLDER / name) if place.exists()]
    models = [
        place for place in places if place.is_file() or any((place / file).exists() for file in _MODEL_FILES)
    ]
    return next(iter([*models, *places]), None)
