"""The camera model and the positions of objects, against geometry computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scenes import NORTH, Place, around, boxes_of, house, thing

from babywalk.assets.boxes import Box, ViewpointObjects
from babywalk.buildings.houses import Houses
from babywalk.buildings.objects.placement import (
    FOCAL,
    TYPICAL_DISTANCE,
    BoxTable,
    ObjectRays,
    PlacedObjects,
    pixel_rays,
    place,
)
from babywalk.common.errors import DataError

HALF, ROOT = 0.5, np.sqrt(3) / 2


@pytest.mark.parametrize(
    ("view", "x", "y", "expected"),
    [
        (12, 320, 240, (0, 1, 0)),  # level, north
        (15, 320, 240, (1, 0, 0)),  # level, east
        (24, 320, 240, (0, ROOT, HALF)),  # 30 degrees up
        (24, 320, 480, (0, 1, 0)),  # its lower border is 30 degrees further down
        (0, 320, 480, (0, HALF, -ROOT)),  # and 60 degrees down at the bottom
        (12, 320 + FOCAL, 240, (np.sqrt(0.5), np.sqrt(0.5), 0)),  # 45 degrees to the right
    ],
)
def test_pixel_rays_follow_the_pinhole_model(view: int, x: float, y: float, expected: Place) -> None:
    ray, cosine = pixel_rays(np.array([view]), np.array([x]), np.array([y]))
    np.testing.assert_allclose(ray[0], expected, atol=1e-12)
    centre, _ = pixel_rays(np.array([view]), np.array([320.0]), np.array([240.0]))
    np.testing.assert_allclose(cosine, (ray * centre).sum(axis=1))


def located(eyes: list[Place], *seen: ViewpointObjects) -> tuple[ObjectRays, PlacedObjects]:
    houses = Houses.of([house(eyes)])
    boxes = BoxTable.of(houses, seen)
    rays = ObjectRays.of(boxes)
    return rays, place(houses.positions, rays, len(boxes.names))


def test_an_object_is_placed_where_its_rays_intersect() -> None:
    eyes: list[Place] = [(0.0, 0.0, 1.5), (2.4, 0.0, 1.5), (1.0, 2.8, 1.5)]
    points: list[Place] = [(1.2, 1.2, 0.9), (1.0, 1.3, 2.2)]
    seen = [
        around(
            number,
            *(thing("lamp", boxes_of(point, eye), str(index)) for index, point in enumerate(points)),
        )
        for number, eye in enumerate(eyes)
    ]
    rays, placed = located(eyes, *seen)
    # Boxes are whole pixels (0.07 degrees), and all distances are near the typical one.
    np.testing.assert_allclose(placed.positions, points, atol=0.01)
    distances = np.linalg.norm(np.array(points)[:, None] - np.array(eyes), axis=2)
    np.testing.assert_allclose(placed.reach, distances.max(axis=1), atol=0.01)
    assert len(rays.viewpoints) == 6


def test_boxes_cut_on_opposite_sides_balance() -> None:
    # The object lies between the columns 0 and 1; the views of both cut it at their borders.
    cut: dict[int, Box] = {12: (500, 200, 140, 80), 13: (0, 200, 140, 80)}
    rays, _ = located([(0.0, 0.0, 1.5)], around(0, thing("sofa", cut)))
    heading = np.degrees(np.arctan2(rays.rays[0, 0], rays.rays[0, 1]))
    assert heading == pytest.approx(15.0)
    assert rays.rays[0, 2] == pytest.approx(0.0, abs=1e-12)


def test_an_object_with_one_ray_is_placed_at_the_typical_distance() -> None:
    rays, placed = located([(5.0, 0.0, 1.5)], around(0, thing("vase", {NORTH: (300, 220, 40, 40)})))
    np.testing.assert_allclose(placed.positions, [(5.0, TYPICAL_DISTANCE, 1.5)])
    np.testing.assert_allclose(placed.extents, (40 / FOCAL * TYPICAL_DISTANCE) ** 2)
    np.testing.assert_allclose(rays.solid_angles, (40 / FOCAL) ** 2)


def test_object_ids_are_per_house() -> None:
    houses = Houses.of([house([(0, 0, 0), (1, 0, 0)]), house([(0, 0, 0)], scan="other")])
    box = thing("lamp", {NORTH: (0, 0, 9, 9)})
    boxes = BoxTable.of(
        houses,
        [around(0, box), around(1, box), around(0, box, scan="other"), around(0, box, scan="elsewhere")],
    )
    assert boxes.objects.tolist() == [0, 0, 1]
    assert boxes.viewpoints.tolist() == [0, 1, 2]
    assert boxes.house.tolist() == [0, 1]


def test_an_object_without_a_box_is_skipped() -> None:
    boxes = BoxTable.of(Houses.of([house([(0, 0, 0)])]), [around(0, thing("lamp", {}))])
    assert boxes.names == ()


def test_two_names_for_one_object_are_rejected() -> None:
    houses = Houses.of([house([(0, 0, 0), (1, 0, 0)])])
    box: dict[int, Box] = {NORTH: (0, 0, 9, 9)}
    with pytest.raises(
        DataError, match="object '1' is named 'lamp' and, at viewpoint '1', 'sofa'; expected one name"
    ):
        BoxTable.of(houses, [around(0, thing("lamp", box)), around(1, thing("sofa", box))])


def test_an_unknown_viewpoint_is_rejected() -> None:
    with pytest.raises(DataError, match="House 'home' has no viewpoint '7'"):
        BoxTable.of(Houses.of([house([(0, 0, 0)])]), [around(7)])
