"""Converting view features into the memory-mapped form that `features` opens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from babywalk.assets.layout import FEATURES
from babywalk.assets.manifest import component
from babywalk.assets.view_features import Panorama
from babywalk.buildings.houses import Houses
from babywalk.buildings.objects.part import Part
from babywalk.buildings.panorama import VIEWS
from babywalk.common.errors import DataError, shortlist, unknown

PRECISIONS = ("float16", "float32")


def convert_panoramas(
    data: Path,
    name: str,
    panoramas: Iterable[Panorama],
    houses: Houses,
    *,
    precision: str = "float16",
    notes: Sequence[str] = (),
) -> tuple[int, int]:
    """Convert a stream of panoramas; returns how many were kept and how many were of no house here."""
    seen = np.zeros(len(houses.names), dtype=bool)
    strangers = 0
    stream = iter(panoramas)
    first = next(stream, None)
    if first is None:
        raise DataError(f"Features {name!r}: there is no panorama to convert.")
    width = first.views.shape[1]
    with _writing(data, name, houses, width, precision, notes) as (views, panorama, _):
        for item in chain([first], stream):
            number = houses.viewpoints(item.scan).get(item.viewpoint) if item.scan in houses.scans else None
            if number is None:
                strangers += 1
            else:
                views[number] = item.views
                panorama[number] = item.views.mean(axis=0)
                seen[number] = True
        if not seen.all():
            missing = [houses.names[number] for number in np.flatnonzero(~seen)]
            raise DataError(
                f"Features {name!r}: expected a panorama of each of the {len(seen):,} viewpoints; "
                f"{len(missing):,} have none: {shortlist(missing)}."
            )
    return int(seen.sum()), strangers


def convert_parts(
    data: Path,
    name: str,
    parts: Sequence[Part],
    houses: Houses,
    *,
    precision: str = "float16",
    notes: Sequence[str] = (),
) -> None:
    """Convert blocks of columns that were computed for all viewpoints."""
    width = sum(len(part.columns) for part in parts)
    with _writing(data, name, houses, width, precision, notes) as (views, panorama, facts):
        facts["parts"], facts["columns"] = {}, []
        for part in parts:
            begin = len(facts["columns"])
            facts["columns"] += part.columns
            facts["parts"][part.name] = [begin, len(facts["columns"])]
            columns = slice(begin, len(facts["columns"]))
            views[..., columns] = part.values
            panorama[:, columns] = part.values.mean(axis=1, dtype=np.float32)


@contextmanager
def _writing(
    data: Path, name: str, houses: Houses, width: int, precision: str, notes: Sequence[str]
) -> Iterator[tuple[NDArray[Any], NDArray[Any], dict[str, Any]]]:
    """The two arrays of a source and the facts about it, open for writing."""
    if precision not in PRECISIONS:
        raise unknown("Precision", precision, PRECISIONS)
    facts = {"width": width, "precision": precision, "viewpoints": houses.key}
    with component(data / FEATURES / name, f"view features {name!r}", notes=notes, details=facts) as draft:
        count = len(houses.names)
        views = _create(draft.folder / "views.npy", precision, (count, VIEWS, width))
        panorama = _create(draft.folder / "panorama.npy", precision, (count, width))
        yield views, panorama, draft.details
        del views, panorama  # flushed before their checksums are taken


def _create(file: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
    return np.lib.format.open_memmap(file, mode="w+", dtype=dtype, shape=shape)
