"""All boxes of all houses in flat tables."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Sightings:
    """Which object each box shows, and where. Every object has a box. Shapes: O objects, B boxes."""

    names: tuple[str, ...]  # O
    house: NDArray[np.int32]  # (O,) the house that an object stands in
    objects: NDArray[np.int32]  # (B,) below O
    viewpoints: NDArray[np.int32]  # (B,) of Houses
    views: NDArray[np.int32]  # (B,) below 36
    boxes: NDArray[np.int32]  # (B, 4) x, y, width, height in pixels

    @classmethod
    def of(cls, houses: Houses, seen: Iterable[ViewpointObjects]) -> Sightings:
        """From the objects around viewpoints; those of other houses are passed over."""
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
                        f"House {place.scan!r}: object {item.object_id!r} is {names[number]!r} and, at "
                        f"viewpoint {place.viewpoint!r}, {item.name!r}; expected one name for one object."
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
            f"House {place.scan!r} has no viewpoint {place.viewpoint!r}, but objects around it; expected "
            "boxes and connectivity of the same data set."
        )
    return viewpoints[place.viewpoint]


FOCAL = HEIGHT / 2 / np.tan(np.pi / 6)  # pixels
PIXELS = WIDTH * HEIGHT

# (36, 3, 3): per view the unit vectors of the image's right, its top and the line of sight, in metres of
# the house. The image's top is the line of sight turned up by a right angle.
AXES: NDArray[np.float64] = np.stack(
    [
        unit(VIEW_HEADINGS + np.pi / 2, np.zeros_like(VIEW_HEADINGS)),
        unit(VIEW_HEADINGS, VIEW_ELEVATIONS + np.pi / 2),
        unit(VIEW_HEADINGS, VIEW_ELEVATIONS),
    ],
    axis=1,
)


def rays(
    views: Integers,  # (B,)
    x: Floats,  # (B,) pixels from the left
    y: Floats,  # (B,) pixels from the top
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unit vectors (B, 3) through pixels, and the cosines (B,) of their angles to the lines of sight."""
    image = np.stack([x - WIDTH / 2, HEIGHT / 2 - y, np.full(len(views), FOCAL)], axis=1)
    length = np.linalg.norm(image, axis=1)
    ray: NDArray[np.float64] = np.einsum("bi,bij->bj", image / length[:, None], AXES[views])
    return ray, FOCAL / length


# Objects are boxed from near by: where rays cross well they do so 1.6 m from the camera in the median, 90 %
# between 0.9 and 2.0 m. A single ray is cut at this distance, which is closer to the truth than a distance
# from the typical size of things of that name (median error 14 % against 17 % and more). Seen from afar, an
# object moves by 2 degrees (median) when it is placed by one of its rays instead of all.
TYPICAL_DISTANCE = 1.6

# What the distance counts beside the direction. It holds rays that run side by side, and moves the
# directions of held-out sights by no more than a tenth of a degree (median) where rays cross well.
_DISTANCE_WEIGHT = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Sights:
    """One viewpoint's look at one object, its boxes taken together. Shapes: S sights, sorted and distinct."""

    viewpoints: NDArray[np.int32]  # (S,)
    objects: NDArray[np.int32]  # (S,)
    rays: NDArray[np.float64]  # (S, 3) unit vectors from the viewpoint to the object
    solid_angles: NDArray[np.float64]  # (S,) steradians of the box that shows most of the object

    @classmethod
    def of(cls, sightings: Sightings) -> Sights:
        """Average the boxes of each viewpoint and object.

        Most boxes are cut at an image's border, which moves their centres. The cuts of neighbouring views
        fall on opposite sides, so weighting by area balances them. Directions of held-out sights come out as
        well as from uncut boxes alone, which a third of the sights do not have.
        """
        objects = len(sightings.names)
        key = sightings.viewpoints.astype(np.int64) * objects + sightings.objects
        distinct, sight = np.unique(key, return_inverse=True)
        x, y, width, height = sightings.boxes.T
        ray, cosine = rays(sightings.views, x + width / 2, y + height / 2)
        total = np.zeros((len(distinct), 3))
        np.add.at(total, sight, ray * sightings.areas[:, None])
        # A small patch of the image plane, seen at an angle, covers area / focal^2 * cos^3 steradians.
        solid_angles = np.zeros(len(distinct))
        np.maximum.at(solid_angles, sight, sightings.areas / FOCAL**2 * cosine**3)
        viewpoints, seen = np.divmod(distinct, max(objects, 1))
        return cls(
            viewpoints=viewpoints.astype(np.int32),
            objects=seen.astype(np.int32),
            rays=total / np.linalg.norm(total, axis=1, keepdims=True),
            solid_angles=solid_angles,
        )


@dataclass(frozen=True, slots=True, eq=False)
class PlacedObjects:
    """Where each object stands. Shapes: O objects."""

    positions: NDArray[np.float64]  # (O, 3) metres
    extents: NDArray[np.float64]  # (O,) square metres that it shows to a viewpoint
    reach: NDArray[np.float64]  # (O,) metres to the farthest viewpoint that boxes it


def place(
    eyes: NDArray[np.float64],  # (N, 3) positions of the viewpoints
    sights: Sights,
    objects: int,  # O; each has a sight
) -> PlacedObjects:
    """Put each object at the point p with the least sum, over its sights (eye q, ray d; T metres typical), of

    |(I - d d^T)(p - q)|^2 + weight * (d . (p - q) - T)^2,

    that is, near its rays and, where they do not tell how far along, at the typical distance.
    """
    eye, ray, seen = eyes[sights.viewpoints], sights.rays, sights.objects
    # The normal equations: sum(M) p = sum(M (q + T d)) with M = I - (1 - weight) d d^T, never singular.
    matrix = np.eye(3) - (1 - _DISTANCE_WEIGHT) * ray[:, :, None] * ray[:, None, :]
    left, right = np.zeros((objects, 3, 3)), np.zeros((objects, 3, 1))
    np.add.at(left, seen, matrix)
    np.add.at(right, seen, matrix @ (eye + TYPICAL_DISTANCE * ray)[:, :, None])
    positions = np.asarray(np.linalg.solve(left, right)[:, :, 0], dtype=np.float64)

    distance = np.linalg.norm(positions[seen] - eye, axis=1)
    extent = np.bincount(seen, weights=sights.solid_angles * distance**2, minlength=objects)
    reach = np.zeros(objects)
    np.maximum.at(reach, seen, distance)
    return PlacedObjects(
        positions=positions, extents=extent / np.bincount(seen, minlength=objects), reach=reach
    )
