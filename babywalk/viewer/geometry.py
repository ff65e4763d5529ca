"""A house for the page: its storeys from above, its graph, and the names of objects in every view."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.data_directory import PLANS
from babywalk.buildings.features import Source, open_source, sources
from babywalk.episodes.dataset import Dataset
from babywalk.evaluation.figures.layout import Frame
from babywalk.evaluation.figures.scene import Floor, Scene, Shape, build_scene

_OBJECTS = "objects"  # the source of view features whose columns are names
_NAMES, _ROOMS = "names", "rooms"  # its parts
_SHOWN = 3  # names per view, those that cover most of it


def house_record(dataset: Dataset, scan: str) -> dict[str, Any]:
    """A house as JSON; viewpoints are numbered within it. Lengths are in metres.

    `points` holds x, y, z and the storey of each viewpoint, `edges` pairs of viewpoints, `floors` the
    rectangles of floor plans (no rooms where there is no plan). `views[viewpoint][view]` lists indices into
    `labels`; it is missing where the data directory has no names of objects.
    """
    houses = dataset.houses
    numbers = houses.viewpoints(scan)
    plan = dataset.folder / PLANS / f"{scan}.json"
    scene = build_scene(houses, scan, plan if plan.exists() else None)
    end = scene.first + len(numbers)
    heights = houses.positions[scene.first : end, 2]
    return {
        "scan": scan,
        "names": list(numbers),
        "points": [
            [*np.round(point, 2).tolist(), round(float(height), 2), int(floor)]
            for point, height, floor in zip(scene.points, heights, scene.floor_of, strict=True)
        ],
        "edges": scene.edges.tolist(),
        "frame": _frame(scene.frame),
        "floors": [_floor(floor) for floor in scene.floors],
        **_objects(dataset, scene, end),
    }


def _frame(frame: Frame) -> list[float]:
    return [round(side, 2) for side in (frame.x0, frame.y0, frame.x1, frame.y1)]


def _floor(floor: Floor) -> dict[str, list[Any]]:
    def shapes(some: tuple[Shape, ...]) -> list[Any]:
        return [[shape.name, *_frame(shape.frame)] for shape in some]

    return {
        "rooms": shapes(floor.rooms),
        "doors": shapes(floor.doors),
        "stairs": shapes(floor.stairs),
        "furniture": shapes(floor.furniture),
    }


def _objects(dataset: Dataset, scene: Scene, end: int) -> dict[str, Any]:
    """What is in view, and the room class of each viewpoint (0: unknown); empty if not known."""
    if _OBJECTS not in sources(dataset.folder):
        return {}
    source = open_source(dataset.folder, _OBJECTS, dataset.houses)
    found: dict[str, Any] = {}
    if _ROOMS in source.parts:
        # The first columns are the classes of the viewpoint itself, the same in all views.
        columns = _columns(source, _ROOMS)
        own = [column for column in columns if source.columns[column].startswith("room ")]
        values = np.asarray(source.views[scene.first : end, 0][:, own], dtype=np.float32)
        found["classes"] = np.where(values.any(axis=1), values.argmax(axis=1) + 1, 0).tolist()
    if _NAMES in source.parts:
        columns = _columns(source, _NAMES)
        found["labels"] = [source.columns[column] for column in columns]
        found["views"] = _largest(source.views[scene.first : end][..., columns])
    return found


def _columns(source: Source, part: str) -> list[int]:
    columns = source.parts[part]
    return list(range(columns.start, columns.stop))


def _largest(values: NDArray[np.floating[Any]]) -> list[list[list[int]]]:
    """The columns of the largest values of each viewpoint and view (N, 36, C), without zeros."""
    order = np.argsort(-values, axis=-1, kind="stable")[..., :_SHOWN]
    count = (np.take_along_axis(values, order, axis=-1) > 0).sum(axis=-1)
    return [
        [row[:size] for row, size in zip(rows, sizes, strict=True)]
        for rows, sizes in zip(order.tolist(), count.tolist(), strict=True)
    ]
