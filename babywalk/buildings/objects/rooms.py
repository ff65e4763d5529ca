"""Rooms: the class of the room one stands in, and of the rooms one sees into.

The publisher's classes cover three quarters of the viewpoints of R2R's training and test houses, and none
of its unseen validation houses.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from babywalk.buildings.houses import Houses
from babywalk.buildings.objects.part import Part, blank, raise_to
from babywalk.buildings.objects.visible import visible_pairs
from babywalk.buildings.panorama import direction, nearest_view
from babywalk.common.errors import DataError

_FADING = 5.0  # metres over which a room in sight counts 1/e


def room_part(houses: Houses, rooms: Mapping[tuple[str, str], int]) -> Part:
    """The part "rooms"; what is not known is zero.

    "room k" is 1 in all views of a viewpoint that stands in a room of class k. "sees room k" is
    exp(-metres / 5) to the nearest visible viewpoint of class k that lies in the view.
    """
    classes = np.array(
        [
            rooms.get((houses.scans[house], name), 0)
            for house, name in zip(houses.house_of.tolist(), houses.names, strict=True)
        ]
    )
    if (classes < 0).any():
        first = np.flatnonzero(classes < 0)[0]
        scan = houses.scans[houses.house_of[first]]
        raise DataError(
            f"Viewpoint {houses.names[first]!r} of house {scan!r} has room class {classes[first]}; "
            f"expected a number from 1."
        )
    count = max(rooms.values(), default=0)  # 12 in Matterport3D's labels
    values = blank(len(houses.names), 2 * count)
    known = np.flatnonzero(classes)
    values[known, :, classes[known] - 1] = 1.0

    eye, seen = visible_pairs(houses)
    told = classes[seen] > 0
    eye, seen = eye[told], seen[told]
    offset = houses.positions[seen] - houses.positions[eye]
    nearness = np.exp(-np.linalg.norm(offset, axis=1) / _FADING)
    raise_to(values, (eye, nearest_view(*direction(offset)), count + classes[seen] - 1), nearness)
    return Part(
        name="rooms",
        columns=tuple(f"{what} {number}" for what in ("room", "sees room") for number in range(1, count + 1)),
        values=values,
    )
