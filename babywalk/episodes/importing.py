"""Importing raw files into a data directory; every file is checked."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from babywalk.assets.boxes import boxes_files, read_boxes
from babywalk.assets.categories import read_categories
from babywalk.assets.connectivity import connectivity_files
from babywalk.assets.data_directory import (
    CONNECTIVITY,
    FINE_GRAINED,
    MANIFEST,
    PLANS,
    WALKS,
    WORD_VECTORS,
    component,
    finish_imports,
    replace_components,
    staging,
)
from babywalk.assets.fine_grained import read_fine_grained
from babywalk.assets.glove import read_glove
from babywalk.assets.rooms import read_rooms
from babywalk.assets.view_features import read_view_features
from babywalk.buildings.features import convert_panoramas, convert_parts
from babywalk.buildings.objects.build import object_parts
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import atomic_folder, matching_files, naming_file_errors
from babywalk.common.progress import progress
from babywalk.episodes.dataset import Dataset

OBJECTS = "objects"  # the name of the features computed from object boxes

_MATTERPORT = "Derived from Matterport3D: use is subject to its terms (non-commercial research)."
_NOTES = {
    CONNECTIVITY: ("Navigation graphs of Matterport3DSimulator, MIT licence.",),
    WALKS: ("Room-to-Room (Anderson et al. 2018), MIT licence.",),
    OBJECTS: ("Object boxes of REVERIE (Qi et al. 2020).", _MATTERPORT),
    WORD_VECTORS: ("GloVe (Pennington et al. 2014), rows of Speaker-Follower, BSD-2 licence.",),
    FINE_GRAINED: ("Fine-Grained R2R (Hong et al. 2020), MIT licence.",),
}


@dataclass(frozen=True, slots=True)
class RawFiles:
    """The paths of the raw files of a data set; None or empty where there are none."""

    connectivity: Path | None = None
    r2r: Path | None = None
    boxes: Path | None = None
    categories: Path | None = None
    rooms: Path | None = None
    features: tuple[tuple[str, Path], ...] = ()  # name and TSV of each source
    glove: tuple[Path, Path] | None = None  # words, vectors
    fine_grained: Path | None = None
    plans: Path | None = None


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What was imported: one line of text per component."""

    folder: Path
    lines: tuple[str, ...]


def import_data(
    raw: RawFiles, folder: Path, *, precision: str = "float16", notes: Sequence[str] | None = None
) -> ImportReport:
    """Import raw files into a new data directory, or add to an existing one.

    All is imported or, after an error, nothing: an existing directory is then as it was. After a kill, the
    next command that opens the directory finds its old or its new state. `notes` replaces the publishers'
    licence notes for files from other sources.
    """
    with _data_directory(folder, raw) as target:
        try:
            lines = list(import_into(target, raw, precision=precision, notes=notes))
        except DataError as error:
            raise DataError(str(error).replace(str(target), str(folder))) from None
    return ImportReport(folder, tuple(lines))


def import_into(
    target: Path, raw: RawFiles, *, precision: str = "float16", notes: Sequence[str] | None = None
) -> Iterator[str]:
    """Import each kind of file, in the order of their dependence; yields a line about each."""
    if raw.connectivity:
        files = connectivity_files(raw.connectivity)
        _copy(files, target / CONNECTIVITY, "navigation graphs", _notes(CONNECTIVITY, notes))
    dataset = Dataset(target)
    houses = dataset.houses
    yield f"houses: {len(houses):,}, viewpoints: {len(houses.names):,}"
    if raw.r2r:
        files = _matching(raw.r2r, "R2R_*.json")
        _copy(files, target / WALKS, "described walks", _notes(WALKS, notes))
    for split in dataset.splits:  # reading checks every walk
        walks = dataset.walks(split)
        yield f"r2r {split}: {len(walks.texts):,} instructions of {len(walks):,} paths"
    for name, file in raw.features:
        rows = progress(read_view_features(file), f"Converting {name}", unit="panorama")
        converted, skipped = convert_panoramas(
            target, name, rows, houses, precision=precision, notes=notes or (_MATTERPORT,)
        )
        extra = f", {skipped:,} of unknown viewpoints skipped" if skipped else ""
        yield f"features {name}: {converted:,} panoramas{extra}"
    if raw.boxes:
        yield _import_objects(raw, dataset, precision, _notes(OBJECTS, notes))
    if raw.glove:
        vectors = read_glove(*raw.glove)
        with component(target / WORD_VECTORS, "word vectors", notes=_notes(WORD_VECTORS, notes)) as draft:
            shutil.copyfile(raw.glove[0], draft.folder / "vocab.txt")
            shutil.copyfile(raw.glove[1], draft.folder / "vectors.npy")
        yield f"word vectors: {len(vectors.words):,} of width {vectors.vectors.shape[1]}"
    if raw.fine_grained:
        files = _matching(raw.fine_grained, "FGR2R_*.json")
        aligned = sum(len(read_fine_grained(file)) for file in files)
        _copy(files, target / FINE_GRAINED, "sub-instructions", _notes(FINE_GRAINED, notes))
        yield f"sub-instructions: of {aligned:,} paths"
    if raw.plans:
        _copy(_matching(raw.plans, "*.json"), target / PLANS, "floor plans", notes or ())


def _import_objects(raw: RawFiles, dataset: Dataset, precision: str, notes: Sequence[str]) -> str:
    houses = dataset.houses
    boxes = boxes_files(raw.boxes) if raw.boxes else []
    categories = raw.categories or _beside(raw.boxes, "category_mapping.tsv")
    # The vocabulary is from training houses only, so that unseen houses do not influence the features.
    train = dataset.walks("train" if "train" in dataset.splits else dataset.splits[0])
    scans = {houses.scans[house] for house in houses.house_of[train.paths.firsts]}
    parts = object_parts(
        houses,
        (read_boxes(file) for file in progress(boxes, "Reading boxes", unit="panorama")),
        categories=read_categories(categories) if categories else None,
        rooms=read_rooms(raw.rooms) if raw.rooms else None,
        vocabulary_scans=scans,
    )
    convert_parts(dataset.folder, OBJECTS, parts, houses, precision=precision, notes=notes)
    widths = ", ".join(f"{part.name} {len(part.columns)}" for part in parts)
    return f"features {OBJECTS}: {widths}"


@contextmanager
def _data_directory(folder: Path, raw: RawFiles) -> Iterator[Path]:
    """A temporary folder to write to, which becomes the data directory or is added to the existing one."""
    finish_imports(folder)
    if not folder.exists() or not any(folder.iterdir()):
        missing = [
            flag for flag, given in (("--connectivity", raw.connectivity), ("--r2r", raw.r2r)) if not given
        ]
        if missing:
            raise ConfigError(f"A new data directory needs {' and '.join(missing)}.")
        with atomic_folder(folder) as temporary:
            yield temporary
    elif not any(folder.glob(f"*/{MANIFEST}")):
        raise ConfigError(f"{folder}: is neither empty nor a data directory. Give another folder.")
    else:
        with _staging(folder, raw) as target:
            yield target


@contextmanager
def _staging(folder: Path, raw: RawFiles) -> Iterator[Path]:
    """A temporary folder inside a data directory; what is imported into it is moved up if nothing is raised.

    It has copies of the houses and walks that are not imported, which the import of other components reads.
    """
    kept = [name for name, given in ((CONNECTIVITY, raw.connectivity), (WALKS, raw.r2r)) if not given]
    with staging(folder) as temporary:
        for name in kept:
            if (folder / name).is_dir():
                shutil.copytree(folder / name, temporary / name)
        with naming_file_errors(folder, temporary):
            yield temporary
        made = [file.parent.relative_to(temporary) for file in sorted(temporary.rglob(MANIFEST))]
        replace_components(temporary, [place.as_posix() for place in made if str(place) not in kept])


def _copy(files: Sequence[Path], folder: Path, what: str, notes: Sequence[str]) -> None:
    with component(folder, what, notes=notes) as draft:
        for file in files:
            shutil.copyfile(file, draft.folder / file.name)


def _notes(kind: str, notes: Sequence[str] | None) -> Sequence[str]:
    return _NOTES[kind] if notes is None else notes


def _matching(folder: Path, pattern: str) -> list[Path]:
    if not folder.is_dir():
        raise DataError(f"{folder}: folder not found.")
    files = matching_files(folder, pattern)
    if not files:
        raise DataError(f"{folder}: has no file named {pattern}.")
    return files


def _beside(folder: Path | None, name: str) -> Path | None:
    """A file in a folder or in its parent, if there is one."""
    places = [folder / name, folder.parent / name] if folder else []
    return next((file for file in places if file.is_file()), None)
