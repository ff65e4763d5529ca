"""View features of the 36 views of each viewpoint, memory-mapped.

A source is converted once into a component `features/<name>`: `views.npy` [N, 36, D] in the order of the
houses' viewpoints, and `panorama.npy` [N, D], the mean over the views. Opening a source maps its files. A
spec selects the features of an agent:

    none                          directions only: the blind baseline
    resnet                        one source
    objects:names,groups,rooms    some parts of a source
    resnet+objects                several sources, concatenated
    objects+lookahead             candidates also have the panorama of the neighbouring viewpoint, which is
                                  not visible from the current one; results with it are marked
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from babywalk.assets.data_directory import FEATURES, StoredComponent, adding_advice, component
from babywalk.assets.records import Record
from babywalk.assets.view_features import Panorama
from babywalk.buildings.houses import Houses
from babywalk.buildings.objects.parts import Part
from babywalk.buildings.panorama import VIEWS
from babywalk.common.array_files import map_array
from babywalk.common.errors import ConfigError, DataError, shortlist, unknown

BLIND = "none"
LOOKAHEAD = "lookahead"
PRECISIONS = ("float16", "float32")

Index = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A converted source of view features. Shapes: N viewpoints, D columns."""

    name: str
    views: NDArray[np.floating[Any]]  # (N, 36, D), memory-mapped
    panorama: NDArray[np.floating[Any]]  # (N, D), memory-mapped, the mean over the views
    parts: dict[str, slice]  # columns of each named part; may be empty
    columns: tuple[str, ...]  # D names, or empty
    notes: tuple[str, ...]  # licences and terms of the data


@dataclass(frozen=True, slots=True, eq=False)
class ViewFeatures:
    """The columns that a spec selects. Shapes: N viewpoints, B an index array of any shape, D columns."""

    spec: str
    viewpoints: int  # N
    blocks: tuple[tuple[Source, slice], ...]
    lookahead: bool  # True if candidates include the panorama of the neighbour

    @property
    def width(self) -> int:
        """D, the dimensions of a view."""
        return sum(columns.stop - columns.start for _, columns in self.blocks)

    @property
    def columns(self) -> tuple[str, ...]:
        """D display names, such as "objects chair" or "resnet 17"."""
        return tuple(
            f"{source.name} {source.columns[column] if source.columns else column}"
            for source, columns in self.blocks
            for column in range(columns.start, columns.stop)
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The licence notes of the selected sources."""
        return tuple(dict.fromkeys(note for source, _ in self.blocks for note in source.notes))

    def views(self, viewpoints: Index) -> NDArray[np.float32]:
        """(B, 36, D) all views of each viewpoint."""
        gathered = [source.views[..., columns][viewpoints] for source, columns in self.blocks]
        return self._joined(gathered, (*np.shape(viewpoints), VIEWS))

    def view(self, viewpoints: Index, view: Index) -> NDArray[np.float32]:
        """(B, D) one view of each viewpoint."""
        gathered = [source.views[..., columns][viewpoints, view] for source, columns in self.blocks]
        return self._joined(gathered, np.broadcast_shapes(np.shape(viewpoints), np.shape(view)))

    def panorama(self, viewpoints: Index) -> NDArray[np.float32]:
        """(B, D) the mean over the views of each viewpoint."""
        gathered = [source.panorama[..., columns][viewpoints] for source, columns in self.blocks]
        return self._joined(gathered, np.shape(viewpoints))

    def views_table(self) -> NDArray[np.floating[Any]]:
        """(N, 36, D) all views: the mapped array itself if the spec is one block of it, else a copy."""
        return self._table([source.views[..., columns] for source, columns in self.blocks], (VIEWS,))

    def panorama_table(self) -> NDArray[np.floating[Any]]:
        """(N, D) all panoramas, likewise."""
        return self._table([source.panorama[..., columns] for source, columns in self.blocks], ())

    def _table(self, blocks: list[NDArray[Any]], shape: tuple[int, ...]) -> NDArray[np.floating[Any]]:
        if not blocks:
            return np.zeros((self.viewpoints, *shape, 0), dtype=np.float32)
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=-1)

    def _joined(self, blocks: list[NDArray[Any]], shape: tuple[int, ...]) -> NDArray[np.float32]:
        table = np.empty((*shape, self.width), dtype=np.float32)
        begin = 0
        for block in blocks:
            end = begin + block.shape[-1]
            table[..., begin:end] = block
            begin = end
        return table


def open_features(data: Path, spec: str, houses: Houses) -> ViewFeatures:
    """Map the sources of a spec; data is read when it is used."""
    names = [name for name in spec.split("+") if name]
    lookahead = LOOKAHEAD in names
    wanted = [name for name in names if name not in (LOOKAHEAD, BLIND)]
    if not names or (BLIND in names and wanted):
        raise ConfigError(
            f"Features {spec!r} are not a valid spec. "
            f"Write '{BLIND}', or one or more of these joined by '+': {_known(data)}."
        )
    blocks = [block for name in wanted for block in _blocks(data, name, houses)]
    return ViewFeatures(spec, len(houses.names), tuple(blocks), lookahead)


def sources(data: Path) -> list[str]:
    """The names of the converted sources of a data directory."""
    return sorted(file.parent.name for file in (data / FEATURES).glob("*/views.npy"))


def open_source(data: Path, name: str, houses: Houses) -> Source:
    """Map one converted source."""
    if name not in sources(data):
        raise unknown("Feature source", name, [*sources(data), BLIND])
    again = f"Import the features again with 'babywalk data import --features {name}=FILE {data}'."
    stored = StoredComponent(data / FEATURES / name, again)
    manifest, facts, count = stored.manifest, stored.details, len(houses.names)
    with adding_advice(again):
        if facts.string("viewpoints") != houses.key:
            raise DataError(f"{stored.folder}: was converted for different houses.")
        width, columns = facts.exact_integer("width"), facts.optional_strings("columns")
        if columns and len(columns) != width:
            raise facts.wrong("columns", f"{width} names, one per column")
        parts, notes = _parts(facts, width), manifest.optional_strings("notes")
    with stored.reading("views.npy") as file:
        views = map_array(file, "f", (count, VIEWS, width))
    with stored.reading("panorama.npy") as file:
        panorama = map_array(file, "f", (count, width))
    return Source(name, views, panorama, parts, columns, notes)


def _parts(facts: Record, width: int) -> dict[str, slice]:
    """The columns of each named part."""
    parts = facts.fields.get("parts", {})
    if not isinstance(parts, dict):
        raise facts.wrong("parts", "an object of named parts")
    record = Record(facts.file, "field 'parts'", parts)
    for name in parts:
        bounds = record.integers(name)
        if len(bounds) != 2 or not 0 <= bounds[0] <= bounds[1] <= width:
            raise record.wrong(name, f"[begin, end] within 0 to {width}")
    return {name: slice(begin, end) for name, (begin, end) in parts.items()}


def _blocks(data: Path, wanted: str, houses: Houses) -> Iterator[tuple[Source, slice]]:
    """The columns of "source" or "source:part,part"; adjacent parts are one block."""
    name, colon, chosen = wanted.partition(":")
    source = open_source(data, name, houses)
    if not colon:
        yield source, slice(0, source.views.shape[2])
        return
    for part in (parts := chosen.split(",")):
        if part not in source.parts:
            raise unknown(f"Part of features {name!r}", part, source.parts)
    begin = end = None
    for columns in sorted((source.parts[part] for part in set(parts)), key=lambda columns: columns.start):
        if columns.start != end:
            if begin is not None:
                yield source, slice(begin, end)
            begin = columns.start
        end = columns.stop
    yield source, slice(begin, end)


def _known(data: Path) -> str:
    return ", ".join([*sources(data), LOOKAHEAD])


def convert_panoramas(
    data: Path,
    name: str,
    panoramas: Iterable[Panorama],
    houses: Houses,
    *,
    precision: str = "float16",
    notes: Sequence[str] = (),
) -> tuple[int, int]:
    """Convert a stream of panoramas; returns the number converted and the number of unknown viewpoints."""
    seen = np.zeros(len(houses.names), dtype=bool)
    unknown_viewpoints = 0
    stream = iter(panoramas)
    first = next(stream, None)
    if first is None:
        raise DataError(f"Features {name!r}: no panoramas to convert.")
    width = first.views.shape[1]
    with _writing(data, name, houses, width, precision, notes) as (views, panorama, _):
        for item in chain([first], stream):
            number = houses.viewpoints(item.scan).get(item.viewpoint) if item.scan in houses.scans else None
            if number is None:
                unknown_viewpoints += 1
            else:
                views[number] = item.views
                panorama[number] = item.views.mean(axis=0)
                seen[number] = True
        if not seen.all():
            missing = [houses.names[number] for number in np.flatnonzero(~seen)]
            raise DataError(
                f"Features {name!r}: expected a panorama for each of the {len(seen):,} viewpoints; "
                f"{len(missing):,} are missing: {shortlist(missing)}."
            )
    return int(seen.sum()), unknown_viewpoints


def convert_parts(
    data: Path,
    name: str,
    parts: Sequence[Part],
    houses: Houses,
    *,
    precision: str = "float16",
    notes: Sequence[str] = (),
) -> None:
    """Convert parts that were computed for all viewpoints."""
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
    """The two arrays of a source and its manifest details, open for writing."""
    if precision not in PRECISIONS:
        raise unknown("Precision", precision, PRECISIONS)
    facts = {"width": width, "precision": precision, "viewpoints": houses.key}
    with component(data / FEATURES / name, f"view features {name!r}", notes=notes, details=facts) as draft:
        count = len(houses.names)
        views = _create(draft.folder / "views.npy", precision, (count, VIEWS, width))
        panorama = _create(draft.folder / "panorama.npy", precision, (count, width))
        yield views, panorama, draft.details
        del views, panorama  # flushed before their checksums are computed


def _create(file: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
    return np.lib.format.open_memmap(file, mode="w+", dtype=dtype, shape=shape)
