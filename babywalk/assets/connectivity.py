"""Connectivity: the navigation graph of one house, `<scan>_connectivity.json`.

A list of viewpoints `{image_id, pose[16], included, visible[], unobstructed[], height}`; the pose is a
row-major 4x4 matrix whose last column is the position. Viewpoints that are not `included` are dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.records import Record, records
from babywalk.common.errors import DataError, shortlist
from babywalk.common.files import matching_files, read_json, write_json
from babywalk.common.memory import check_memory

SUFFIX = "_connectivity.json"
_PARSED = 6  # bytes of memory per byte of the file while it is read


@dataclass(frozen=True, slots=True, eq=False)
class Connectivity:
    """The viewpoints of one house and two relations between them: walkable and visible.

    `unobstructed` is symmetric, `visible` need not be; both are False on the diagonal. Shapes: N viewpoints.
    """

    scan: str
    viewpoints: tuple[str, ...]
    positions: NDArray[np.float64]  # (N, 3) metres, z up
    heights: NDArray[np.float64]  # (N,) metres, camera above the floor
    unobstructed: NDArray[np.bool_]  # (N, N) True where a walker can go straight from one to the other
    visible: NDArray[np.bool_]  # (N, N) [a, b] True where a sees b


def connectivity_files(folder: Path) -> list[Path]:
    """The connectivity files of a folder, sorted by name."""
    if not folder.is_dir():
        raise DataError(f"{folder}: folder not found.")
    files = matching_files(folder, "*" + SUFFIX)
    if not files:
        raise DataError(f"{folder}: has no file named <scan>{SUFFIX}.")
    return files


def read_connectivity(file: Path) -> Connectivity:
    """Read and check one house."""
    if not file.name.endswith(SUFFIX):
        raise DataError(f"{file}: expected a file name that ends with {SUFFIX}.")
    if file.is_file():
        check_memory(_PARSED * file.stat().st_size, f"{file}: reading it")
    rows = records(file, read_json(file), "viewpoint")
    if not rows:
        raise DataError(f"{file}: contains no viewpoints.")
    names = [row.string("image_id") for row in rows]
    duplicates = [name for name, count in Counter(names).items() if count > 1]
    if duplicates:
        raise DataError(
            f"{file}: field 'image_id' must be unique; found more than once: {shortlist(duplicates)}."
        )
    keep = np.array([row.boolean("included") for row in rows])
    poses = np.array([row.numbers("pose", 16) for row in rows])
    unobstructed = _relation(rows, "unobstructed", keep)
    one_way = np.argwhere(unobstructed & ~unobstructed.T)
    included = tuple(name for name, kept in zip(names, keep, strict=True) if kept)
    if len(one_way):
        edges = [f"{included[a]} to {included[b]}" for a, b in one_way]
        raise DataError(f"{file}: field 'unobstructed' must be symmetric; one-way edges: {shortlist(edges)}.")
    return Connectivity(
        scan=file.name.removesuffix(SUFFIX),
        viewpoints=included,
        positions=poses[keep][:, [3, 7, 11]],
        heights=np.array([row.number("height") for row in rows])[keep],
        unobstructed=unobstructed,
        visible=_relation(rows, "visible", keep),
    )


def write_connectivity(file: Path, house: Connectivity) -> None:
    """Write one house in the raw format, every viewpoint included and facing north."""
    poses = np.tile(np.eye(4), (len(house.viewpoints), 1, 1))
    poses[:, :3, 3] = house.positions
    write_json(
        file,
        [
            {
                "image_id": name,
                "pose": pose.ravel().tolist(),
                "included": True,
                "visible": visible.tolist(),
                "unobstructed": unobstructed.tolist(),
                "height": float(height),
            }
            for name, pose, visible, unobstructed, height in zip(
                house.viewpoints, poses, house.visible, house.unobstructed, house.heights, strict=True
            )
        ],
        indent=None,
    )


def _relation(rows: Sequence[Record], field: str, keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
    relation = np.array([row.booleans(field, len(rows)) for row in rows])[np.ix_(keep, keep)]
    np.fill_diagonal(relation, False)
    return relation
