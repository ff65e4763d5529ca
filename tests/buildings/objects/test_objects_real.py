"""Object features of three real houses: places agree with boxes they were not made from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from babywalk.assets.boxes import ViewpointObjects, boxes_files, read_boxes
from babywalk.assets.categories import read_categories
from babywalk.assets.connectivity import connectivity_files, read_connectivity
from babywalk.assets.rooms import read_rooms
from babywalk.buildings.houses import Houses
from babywalk.buildings.objects.build import object_parts
from babywalk.buildings.objects.sightings import Sightings, Sights, place

pytestmark = pytest.mark.real

SCANS = ("17DRP5sb8fy", "1LXtFkjw3qL", "2azQ1b91cZZ")


@pytest.fixture(scope="module")
def houses(real_data: Path) -> Houses:
    files = connectivity_files(real_data / "connectivity")
    return Houses.of([read_connectivity(file) for file in files if file.name.startswith(SCANS)])


@pytest.fixture(scope="module")
def seen(real_data: Path) -> list[ViewpointObjects]:
    return [read_boxes(file) for file in boxes_files(real_data / "BBox") if file.name.startswith(SCANS)]


def degrees(offset: NDArray[np.float64], ray: NDArray[np.float64]) -> NDArray[np.float64]:
    cosine = (offset * ray).sum(axis=1) / np.linalg.norm(offset, axis=1)
    angle: NDArray[np.float64] = np.degrees(np.arccos(np.clip(cosine, -1, 1)))
    return angle


def test_objects_lie_on_their_rays(houses: Houses, seen: list[ViewpointObjects]) -> None:
    sightings = Sightings.of(houses, seen)
    sights = Sights.of(sightings)
    objects = len(sightings.names)
    placed = place(houses.positions, sights, objects)
    several = np.bincount(sights.objects)[sights.objects] >= 2
    offset = placed.positions[sights.objects] - houses.positions[sights.viewpoints]
    assert np.median(degrees(offset, sights.rays)[several]) < 1.5
    assert np.percentile(np.linalg.norm(offset, axis=1), 95) < 2.5
    # On the floor stands what is below the camera, and on the ceiling hangs what is above it.
    names = np.array(sightings.names)[sights.objects]
    assert np.median(offset[names == "toilet", 2]) < -0.5
    assert np.median(offset[names == "light", 2]) > 0.3


def test_a_held_out_viewpoint_sees_an_object_where_the_others_put_it(
    houses: Houses, seen: list[ViewpointObjects]
) -> None:
    sightings = Sightings.of(houses, seen)
    sights = Sights.of(sightings)
    objects = len(sightings.names)
    often = np.bincount(sights.objects)[sights.objects] >= 3
    # The last sight of each object that has three or more.
    _, held = np.unique(sights.objects[::-1], return_index=True)
    held = len(sights.objects) - 1 - held
    held = held[often[held]]
    kept = np.setdiff1d(np.arange(len(sights.objects)), held)
    rest = Sights(sights.viewpoints[kept], sights.objects[kept], sights.rays[kept], sights.solid_angles[kept])
    placed = place(houses.positions, rest, objects)
    offset = placed.positions[sights.objects[held]] - houses.positions[sights.viewpoints[held]]
    error = degrees(offset, sights.rays[held])
    assert len(error) > 100
    assert np.median(error) < 4
    assert np.percentile(error, 90) < 15  # half of the angle between neighbouring views


def test_parts_are_filled_sensibly(real_data: Path, houses: Houses, seen: list[ViewpointObjects]) -> None:
    parts = object_parts(
        houses,
        seen,
        categories=read_categories(real_data / "category_mapping.tsv"),
        rooms=read_rooms(real_data / "rooms"),
        vocabulary_scans=SCANS[:2],
        names=80,
    )
    assert [(some.name, len(some.columns)) for some in parts] == [
        ("names", 80),
        ("groups", 40),
        ("distant", 120),
        ("rooms", 24),
        ("openness", 6),
    ]
    for some in parts:
        assert some.values.shape == (len(houses.names), 36, len(some.columns))
        assert len(set(some.columns)) == len(some.columns)
        assert some.values.min() >= 0
        assert some.values.max() <= 1
        assert some.values.any(axis=(1, 2)).mean() > 0.3, some.name  # one house has no room class
        assert some.values.any(axis=2).mean() > 0.1, some.name
