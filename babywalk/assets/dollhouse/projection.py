"""Object boxes: where a pinhole camera shows the things near a viewpoint, in each of its 36 views."""

from __future__ import annotations

import numpy as np

from babywalk.assets.boxes import HEIGHT, WIDTH, Box, SeenObject, ViewpointObjects
from babywalk.assets.dollhouse.embedding import ELEVATIONS, HEADINGS
from babywalk.assets.dollhouse.geometry import Floats
from babywalk.assets.dollhouse.house import DollHouse
from babywalk.assets.dollhouse.sight import Sight

NEAR = 3.0  # metres within which objects are boxed
_FOCAL = HEIGHT / 2 / np.tan(np.radians(30.0))  # pixels, for a vertical field of view of 60 degrees
_SMALLEST = 8  # pixels a box must be wide and high
_GRID = np.stack(np.meshgrid(*[np.linspace(0, 1, 4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)


def boxes_at(house: DollHouse, sight: Sight, viewpoint: int) -> ViewpointObjects:
    """The things near a viewpoint that nothing hides, with their boxes."""
    near = (sight.distance[viewpoint] <= NEAR) & (sight.shown[viewpoint] > 0)
    objects = []
    for number in np.flatnonzero(near):
        box = np.array(sight.things[number].box)
        points = box[:3] + _GRID * (box[3:] - box[:3]) - house.positions[viewpoint]
        found = _boxes(points)
        if found:
            views, boxes = zip(*found, strict=True)
            objects.append(SeenObject(str(number), sight.things[number].name, views, boxes))
    return ViewpointObjects(house.scan, house.viewpoints[viewpoint], tuple(objects))


def _boxes(points: Floats) -> list[tuple[int, Box]]:
    """The views that show some of the points (P, 3), and the box around them in each."""
    across, up, ahead = points @ _CAMERAS.transpose(1, 2, 0)  # (3, P, 36)
    front = ahead > 0.05
    depth = np.where(front, ahead, 1.0)
    x = np.where(front, WIDTH / 2 + _FOCAL * across / depth, np.nan)
    y = np.where(front, HEIGHT / 2 - _FOCAL * up / depth, np.nan)
    shows = np.flatnonzero(front.any(axis=0))
    x, y = x[:, shows], y[:, shows]
    x0, x1 = (np.clip(edge, 0, WIDTH).astype(int) for edge in (np.nanmin(x, axis=0), np.nanmax(x, axis=0)))
    y0, y1 = (np.clip(edge, 0, HEIGHT).astype(int) for edge in (np.nanmin(y, axis=0), np.nanmax(y, axis=0)))
    large = (x1 - x0 >= _SMALLEST) & (y1 - y0 >= _SMALLEST)
    rows = np.column_stack([shows, x0, y0, x1 - x0, y1 - y0])[large].tolist()
    return [(view, (left, top, width, height)) for view, left, top, width, height in rows]


def _cameras() -> Floats:
    """The axes right, up and ahead of each view, (36, 3, 3)."""
    axes = []
    for elevation in np.radians(ELEVATIONS):
        for heading in np.arange(HEADINGS) * (2 * np.pi / HEADINGS):
            sine, cosine = np.sin(heading), np.cos(heading)
            rise, level = np.sin(elevation), np.cos(elevation)
            axes.append(
                [
                    (cosine, -sine, 0.0),
                    (-sine * rise, -cosine * rise, level),
                    (sine * level, cosine * level, rise),
                ]
            )
    return np.array(axes)


_CAMERAS = _cameras()
