"""All boxes of all houses in flat tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.boxes import ViewpointObjects
from babywalk.buildings.houses import Houses
from babywalk.common.errors import DataError
from babywalk.common.progress import progress


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
