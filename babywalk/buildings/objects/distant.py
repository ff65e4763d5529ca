"""Distant objects: what is boxed from elsewhere, entered in the view where it lies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.houses import Houses
from babywalk.buildings.objects.areas import fill
from babywalk.buildings.objects.camera import FOCAL, PIXELS
from babywalk.buildings.objects.placing import PlacedObjects, Sights
from babywalk.buildings.objects.visible import visible_pairs
from babywalk.buildings.panorama import direction, nearest_view
from babywalk.common.ragged import Ragged, starts

FARTHEST = 12.0  # metres; a chair there fills a four-hundredth of a view


def distant_objects(
    houses: Houses, sights: Sights, placed: PlacedObjects, *, of: Ragged, columns: int
) -> NDArray[np.float16]:
    """(N, 36, C) the objects each viewpoint sees from afar; `of` gives the C columns of each object."""
    eye, seen = viewers(houses, sights, placed)
    offset = placed.positions[seen] - houses.positions[eye]
    # As large as it would be in the middle of the view.
    area = placed.extents[seen] / (offset**2).sum(axis=1) * FOCAL**2 / PIXELS
    view = nearest_view(*direction(offset))
    return fill(len(houses.names), columns, of=of, where=(eye, view), objects=seen, areas=area)


def viewers(
    houses: Houses, sights: Sights, placed: PlacedObjects
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Viewpoints and the objects they see from afar, as pairs, sorted and distinct.

    Who sees a viewpoint that boxes an object sees the object. Boxes were drawn around everything in
    sight within a radius, so a viewpoint as near as one that boxes the object, and which does not box it
    itself, has it hidden.
    """
    objects = len(placed.reach)
    eye, other = visible_pairs(houses)
    order = np.argsort(other, kind="stable")
    watchers = Ragged(eye[order].astype(np.int32), starts(np.bincount(other, minlength=len(houses.names))))
    taken = watchers.take(sights.viewpoints)
    pairs = np.unique(taken.values.astype(np.int64) * objects + np.repeat(sights.objects, taken.lengths))
    boxed = sights.viewpoints.astype(np.int64) * objects + sights.objects
    eye, seen = np.divmod(pairs[~np.isin(pairs, boxed)], max(objects, 1))
    distance = np.linalg.norm(placed.positions[seen] - houses.positions[eye], axis=1)
    kept = (placed.reach[seen] < distance) & (distance <= FARTHEST)
    return eye[kept], seen[kept]
