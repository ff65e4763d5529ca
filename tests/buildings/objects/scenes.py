"""Small houses and objects for tests of object features, with values that can be computed by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from builders import connectivity
from numpy.typing import NDArray

from babywalk.assets.boxes import Box, SeenObject, ViewpointObjects
from babywalk.assets.connectivity import Connectivity
from babywalk.buildings.objects.parts import Part
from babywalk.buildings.objects.placement import AXES, FOCAL

NORTH, EAST, SOUTH, WEST = 12, 15, 18, 21  # the level views

Place = tuple[float, float, float]


def house(
    positions: Sequence[Place],
    *,
    edges: Iterable[tuple[int, int]] = (),
    visible_pairs: Iterable[tuple[int, int]] = (),
    scan: str = "home",
) -> Connectivity:
    """A house of viewpoints "0", "1", ...; `visible_pairs` are symmetric and need not be edges."""
    visible = np.zeros((len(positions), len(positions)), dtype=np.bool_)
    for a, b in visible_pairs:
        visible[a, b] = visible[b, a] = True
    return replace(connectivity(scan, positions, edges), visible=visible)


def around(viewpoint: int, *objects: SeenObject, scan: str = "home") -> ViewpointObjects:
    """The objects around a viewpoint."""
    return ViewpointObjects(scan=scan, viewpoint=str(viewpoint), objects=objects)


def thing(name: str, boxes: Mapping[int, Box], object_id: str = "1") -> SeenObject:
    """An object with its boxes by view."""
    return SeenObject(object_id=object_id, name=name, views=tuple(boxes), boxes=tuple(boxes.values()))


def boxes_of(point: Place, eye: Place, side: int = 20) -> dict[int, Box]:
    """Square boxes around the projection of a point, in the views that contain the whole box."""
    right, top, forward = (AXES @ (np.array(point) - np.array(eye))).T
    boxes: dict[int, Box] = {}
    for view in np.flatnonzero(forward > 0.1).tolist():
        x = round(320 + FOCAL * right[view] / forward[view]) - side // 2
        y = round(240 - FOCAL * top[view] / forward[view]) - side // 2
        if 0 <= x <= 640 - side and 0 <= y <= 480 - side:
            boxes[view] = (x, y, side, side)
    return boxes


def part(parts: Sequence[Part], name: str) -> Part:
    """The part with this name."""
    (found,) = (some for some in parts if some.name == name)
    return found


def column(some: Part, name: str) -> NDArray[np.float16]:
    """(N, 36) the values of one column."""
    return some.values[:, :, some.columns.index(name)]


def entries(some: Part, name: str) -> dict[tuple[int, int], float]:
    """The nonzero entries of a column by viewpoint and view."""
    values = column(some, name)
    return {
        (viewpoint, view): float(values[viewpoint, view]) for viewpoint, view in np.argwhere(values).tolist()
    }
