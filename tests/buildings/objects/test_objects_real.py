"""Object features of three real houses: positions agree with held-out boxes."""

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
from babywalk.buildings.objects.placement import BoxTable, ObjectRays, place

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


def test_objects_are_on_their_rays(houses: Houses, seen: list[ViewpointObjects]) -> None:
    boxes = BoxTable.of(houses, seen)
    rays = ObjectRays.of(boxes)
    objects = len(boxes.names)
    placed = place(houses.positions, rays, objects)
    several = np.bincount(rays.objects)[rays.objects] >= 2
    offset = placed.positions[rays.objects] - houses.positions[rays.viewpoints]
    assert np.median(degrees(offset, rays.rays)[several]) < 1.5
    assert np.percentile(np.linalg.norm(offset, axis=1), 95) < 2.5
    # Toilets are below the camera, lights above it.
    names = np.array(boxes.names)[rays.objects]
    assert np.median(offset[names == "toilet", 2]) < -0.5
    assert np.median(offset[names == "light", 2]) > 0.3


def test_positions_agree_with_held_out_viewpoints(houses: Houses, seen: list[ViewpointObjects]) -> None:
    boxes = BoxTable.of(houses, seen)
    rays = ObjectRays.of(boxes)
    objects = len(boxes.names)
    often = np.bincount(rays.objects)[rays.objects] >= 3
    # The last ray of each object that has three or more.
    _, held = np.unique(rays.objects[::-1], return_index=True)
    held = len(rays.objects) - 1 - held
    held = held[often[held]]
    kept = np.setdiff1d(np.arange(len(rays.objects)), held)
    rest = ObjectRays(rays.viewpoints[kept], rays.objects[kept], rays.rays[kept], rays.solid_angles[kept])
    placed = place(houses.positions, rest, objects)
    offset = placed.positions[rays.objects[held]] - houses.positions[rays.viewpoints[held]]
    error = degrees(offset, rays.rays[held])
    assert len(error) > 100
    assert np.median(error) < 4
    assert np.percentile(error, 90) < 15  # half of the angle between neighbouring views


def test_parts_have_plausible_values(real_data: Path, houses: Houses, seen: list[ViewpointObjects]) -> None:
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
