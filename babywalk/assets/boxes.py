"""Object boxes: the objects around a viewpoint and their boxes in its views, `<scan>_<viewpoint>.json`.

`{viewpoint: {object_id: {name, visible_pos[view], bbox2d[[x, y, w, h]]}}}` on views of 640x480 pixels. In raw
names, `#` stands for a space. Objects without a box, and viewpoints without objects, are common.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from babywalk.assets.records import Record
from babywalk.assets.view_features import VIEWS
from babywalk.common.errors import DataError
from babywalk.common.files import matching_files, read_json, write_json

SUFFIX = ".json"
WIDTH, HEIGHT = 640, 480  # pixels of a view

Box = tuple[int, int, int, int]  # x, y, width, height in pixels; inside the view, not empty


@dataclass(frozen=True, slots=True)
class SeenObject:
    """An object and its box in each view that shows it; `views` and `boxes` are parallel."""

    object_id: str
    name: str
    views: tuple[int, ...]  # 0 to 35, distinct; empty if no view shows the object
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class ViewpointObjects:
    """The objects around one viewpoint, in the order of the file."""

    scan: str
    viewpoint: str
    objects: tuple[SeenObject, ...]


def boxes_files(folder: Path) -> list[Path]:
    """The box files of a folder, sorted by name."""
    if not folder.is_dir():
        raise DataError(f"{folder}: folder not found.")
    files = matching_files(folder, "*_*" + SUFFIX)
    if not files:
        raise DataError(f"{folder}: has no file named <scan>_<viewpoint>{SUFFIX}.")
    return files


def read_boxes(file: Path) -> ViewpointObjects:
    """Read and check the objects of one viewpoint."""
    top = Record.of(file, "the top level", read_json(file))
    if len(top.fields) != 1:
        raise DataError(f"{file}: contains {len(top.fields)} viewpoints; expected one.")
    ((viewpoint, found),) = top.fields.items()
    # Both names may contain underscores; the content says where the viewpoint's name begins.
    scan = file.name.removesuffix(f"_{viewpoint}{SUFFIX}")
    if scan in ("", file.name):
        raise DataError(f"{file}: contains viewpoint {viewpoint!r}; expected the one in the file name.")
    objects = Record.of(file, f"viewpoint {viewpoint!r}", found).fields
    return ViewpointObjects(
        scan=scan,
        viewpoint=viewpoint,
        objects=tuple(_object(file, object_id, value) for object_id, value in objects.items()),
    )


def write_boxes(folder: Path, seen: ViewpointObjects) -> None:
    """Write the objects of one viewpoint in the raw format."""
    objects = {
        item.object_id: {
            "name": item.name.replace(" ", "#"),
            "visible_pos": list(item.views),
            "bbox2d": [list(box) for box in item.boxes],
        }
        for item in seen.objects
    }
    write_json(folder / f"{seen.scan}_{seen.viewpoint}{SUFFIX}", {seen.viewpoint: objects}, indent=None)


def _object(file: Path, object_id: str, value: object) -> SeenObject:
    record = Record.of(file, f"object {object_id!r}", value)
    views = record.integers("visible_pos")
    if not all(0 <= view < VIEWS for view in views) or len(set(views)) != len(views):
        raise record.wrong("visible_pos", f"distinct views from 0 to {VIEWS - 1}")
    boxes = record.items("bbox2d", "a list of boxes")
    if len(boxes) != len(views):
        raise record.wrong("bbox2d", f"{len(views)} boxes, one per view in 'visible_pos'")
    if not all(map(_is_box, boxes)):
        raise record.wrong(
            "bbox2d", f"boxes [x, y, width, height] in integer pixels inside a view of {WIDTH}x{HEIGHT}"
        )
    return SeenObject(
        object_id=object_id,
        name=record.string("name").replace("#", " "),
        views=tuple(views),
        boxes=tuple(cast(Box, tuple(box)) for box in boxes),
    )


def _is_box(value: object) -> bool:
    if not isinstance(value, list) or len(value) != 4 or set(map(type, value)) != {int}:
        return False
    x, y, width, height = cast(list[int], value)
    return 0 <= x < x + width <= WIDTH and 0 <= y < y + height <= HEIGHT
