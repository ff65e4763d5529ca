"""Object boxes of all houses, and the positions of objects estimated from them.

The views are those of a pinhole camera with 640x480 pixels and a vertical field of view of 60 degrees. On the
real boxes, the directions of one object in neighbouring views agree to 0.6 degrees (median) with this focal
length and these axes; a focal length 4 % smaller or 8 % larger makes it 1.6 degrees.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.boxes import HEIGHT, WIDTH, ViewpointObjects
from babywalk.buildings.houses import Houses
from babywalk.buildings.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS, Floats, unit
from babywalk.common.errors import DataError
from babywalk.common.progress import progress
from babywalk.common.ragged import Integers

FOCAL = HEIGHT / 2 / np.tan(np.pi / 6)  # pixels
PIXELS = WIDTH * HEIGHT

# (36, 3, 3) the camera axes of each view as unit vectors in house coordinates: right, up and forward.
AXES: NDArray[np.float64] = np.stack(
    [
        unit(VIEW_HEADINGS + np.pi / 2, np.zeros_like(VIEW_HEADINGS)),
        unit(VIEW_HEADINGS, VIEW_ELEVATIONS + np.pi / 2),
        unit(VIEW_HEADINGS, VIEW_ELEVATIONS),
    ],
    axis=1,
)

# Metres. Boxed objects are close: where rays intersect well, they do so at 1.6 m from the camera (median;
# 90 % between 0.9 and 2.0 m). An object with a single ray is placed at this distance, which is more accurate
# than a distance from the typical size of objects of that name (median error 14 % against 17 % and more).
# Placing an object by one of its rays instead of all changes its direction from afar by 2 degrees (median).
TYPICAL_DISTANCE = 1.6

# The weight of the distance term. It regularises nearly parallel rays, and changes the directions of held-out
# rays by at most a tenth of a degree (median) where rays intersect well.
_DISTANCE_WEIGHT = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class BoxTable:
    """All boxes in flat tables; every object has a box. Shapes: O objects, B boxes."""

    names: tuple[str, ...]  # O
    house: NDArray[np.int32]  # (O,) the house of each object
    objects: NDArray[np.int32]  # (B,) below O
    viewpoints: NDArray[np.int32]  # (B,) of Houses
    views: NDArray[np.int32]  # (B,) below 36
    boxes: NDArray[np.int32]  # (B, 4) x, y, width, height in pixels

    @classmethod
    def of(cls, houses: Houses, seen: Iterable[ViewpointObjects]) -> BoxTable:
        """From the objects around viewpoints; unknown houses are skipped."""
        known = {scan: house for house, scan in enumerate(houses.scans)}
        numbers: dict[tuple[int, str], int] = {}  # an object's id is unique in its house
        names: list[str] = []
        rows: list[tuple[int, ...]] = []
        for place in progress(seen, "Objects"):
            if place.scan not in known:
                continue
            house, viewpoint = known[place.scan], _viewpoint(houses, place)
            for item in place.objects:
                if not item.views:
                    continue
                number = numbers.setdefault((house, item.object_id), len(numbers))
                if number == len(names):
                    names.append(item.name)
                elif names[number] != item.name:
                    raise DataError(
                        f"House {place.scan!r}: object {item.object_id!r} is named {names[number]!r} and, at "
                        f"viewpoint {place.viewpoint!r}, {item.name!r}; expected one name per object."
                    )
                rows += [
                    (number, viewpoint, view, *box) for view, box in zip(item.views, item.boxes, strict=True)
                ]
        table = np.array(rows, dtype=np.int32).reshape(-1, 7)
        return cls(
            names=tuple(names),
            house=np.array([house for house, _ in numbers], dtype=np.int32),
            objects=table[:, 0],
            viewpoints=table[:, 1],
            views=table[:, 2],
            boxes=table[:, 3:],
        )

    @property
    def areas(self) -> NDArray[np.float64]:
        """(B,) square pixels of each box."""
        return self.boxes[:, 2].astype(np.float64) * self.boxes[:, 3]


def _viewpoint(houses: Houses, place: ViewpointObjects) -> int:
    viewpoints = houses.viewpoints(place.scan)
    if place.viewpoint not in viewpoints:
        raise DataError(
            f"House {place.scan!r} has no viewpoint {place.viewpoint!r}, but boxes for it; expected "
            "boxes and connectivity of the same data set."
        )
    return viewpoints[place.viewpoint]


def pixel_rays(
    views: Integers,  # (B,)
    x: Floats,  # (B,) pixels from the left
    y: Floats,  # (B,) pixels from the top
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unit vectors (B, 3) through pixels, and the cosines (B,) of their angles to the optical axis."""
    image = np.stack([x - WIDTH / 2, HEIGHT / 2 - y, np.full(len(views), FOCAL)], axis=1)
    length = np.linalg.norm(image, axis=1)
    ray: NDArray[np.float64] = np.einsum("bi,bij->bj", image / length[:, None], AXES[views])
    return ray, FOCAL / length


@dataclass(frozen=True, slots=True, eq=False)
class ObjectRays:
    """One ray per viewpoint and object, averaged over its boxes. Shapes: S rays, sorted and distinct."""

    viewpoints: NDArray[np.int32]  # (S,)
    objects: NDArray[np.int32]  # (S,)
    rays: NDArray[np.float64]  # (S, 3) unit vectors from the viewpoint to the object
    solid_angles: NDArray[np.float64]  # (S,) steradians of the largest box

    @classmethod
    def of(cls, boxes: BoxTable) -> ObjectRays:
        """Average the boxes of each viewpoint and object, weighted by area.

        Most boxes are cut at the border of the image, which moves their centres. Neighbouring views cut on
        opposite sides, so weighting by area balances this. Directions of held-out rays are as accurate as
        from uncut boxes alone, which a third of the pairs do not have.
        """
        objects = len(boxes.names)
        key = boxes.viewpoints.astype(np.int64) * objects + boxes.objects
        distinct, pair = np.unique(key, return_inverse=True)
        x, y, width, height = boxes.boxes.T
        ray, cosine = pixel_rays(boxes.views, x + width / 2, y + height / 2)
        total = np.zeros((len(distinct), 3))
        np.add.at(total, pair, ray * boxes.areas[:, None])
        # The solid angle of a small patch of the image plane is area / focal^2 * cos^3.
        solid_angles = np.zeros(len(distinct))
        np.maximum.at(solid_angles, pair, boxes.areas / FOCAL**2 * cosine**3)
        viewpoints, seen = np.divmod(distinct, max(objects, 1))
        return cls(
            viewpoints=viewpoints.astype(np.int32),
            objects=seen.astype(np.int32),
            rays=total / np.linalg.norm(total, axis=1, keepdims=True),
            solid_angles=solid_angles,
        )


@dataclass(frozen=True, slots=True, eq=False)
class PlacedObjects:
    """Positions and sizes of objects. Shapes: O objects."""

    positions: NDArray[np.float64]  # (O, 3) metres
    extents: NDArray[np.float64]  # (O,) apparent area in square metres
    reach: NDArray[np.float64]  # (O,) metres to the farthest viewpoint with a box of it


def place(
    positions: NDArray[np.float64],  # (N, 3) positions of the viewpoints
    rays: ObjectRays,
    objects: int,  # O; each has a ray
) -> PlacedObjects:
    """Place each object at the point p that minimises the sum, over its rays (viewpoint q, direction d), of

    |(I - d d^T)(p - q)|^2 + weight * (d . (p - q) - T)^2,

    that is, near its rays and, where they do not determine the depth, at the typical distance T.
    """
    origin, ray, seen = positions[rays.viewpoints], rays.rays, rays.objects
    # The normal equations: sum(M) p = sum(M (q + T d)) with M = I - (1 - weight) d d^T, never singular.
    matrix = np.eye(3) - (1 - _DISTANCE_WEIGHT) * ray[:, :, None] * ray[:, None, :]
    left, right = np.zeros((objects, 3, 3)), np.zeros((objects, 3, 1))
    np.add.at(left, seen, matrix)
    np.add.at(right, seen, matrix @ (origin + TYPICAL_DISTANCE * ray)[:, :, None])
    found = np.asarray(np.linalg.solve(left, right)[:, :, 0], dtype=np.float64)

    distance = np.linalg.norm(found[seen] - origin, axis=1)
    extent = np.bincount(seen, weights=rays.solid_angles * distance**2, minlength=objects)
    reach = np.zeros(objects)
    np.maximum.at(reach, seen, distance)
    return PlacedObjects(positions=found, extents=extent / np.bincount(seen, minlength=objects), reach=reach)
