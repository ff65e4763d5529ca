"""The camera and the places of objects, against geometry done by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scenes import NORTH, Place, around, boxes_of, house, thing

from babywalk.assets.boxes import Box, ViewpointObjects
from babywalk.buildings.houses import Houses
from babywalk.buildings.objects.sightings import (
    FOCAL,
    TYPICAL_DISTANCE,
    PlacedObjects,
    Sightings,
    Sights,
    place,
    rays,
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
def test_a_pixel_looks_where_the_pinhole_says(view: int, x: float, y: float, expected: Place) -> None:
    ray, cosine = rays(np.array([view]), np.array([x]), np.array([y]))
    np.testing.assert_allclose(ray[0], expected, atol=1e-12)
    centre, _ = rays(np.array([view]), np.array([320.0]), np.array([240.0]))
    np.testing.assert_allclose(cosine, (ray * centre).sum(axis=1))


def located(eyes: list[Place], *seen: ViewpointObjects) -> tuple[Sights, PlacedObjects]:
    houses = Houses.of([house(eyes)])
    sightings = Sightings.of(houses, seen)
    sights = Sights.of(sightings)
    return sights, place(houses.positions, sights, len(sightings.names))


def test_rays_of_several_viewpoints_cross_at_the_object() -> None:
    eyes: list[Place] = [(0.0, 0.0, 1.5), (2.4, 0.0, 1.5), (1.0, 2.8, 1.5)]
    points: list[Place] = [(1.2, 1.2, 0.9), (1.0, 1.3, 2.2)]
    seen = [
        around(
            number,
            *(thing("lamp", boxes_of(point, eye), str(index)) for index, point in enumerate(points)),
        )
        for number, eye in enumerate(eyes)
    ]
    sights, placed = located(eyes, *seen)
    # Boxes are whole pixels (0.07 degrees), and all distances are near the typical one.
    np.testing.assert_allclose(placed.positions, points, atol=0.01)
    distances = np.linalg.norm(np.array(points)[:, None] - np.array(eyes), axis=2)
    np.testing.assert_allclose(placed.reach, distances.max(axis=1), atol=0.01)
    assert len(sights.viewpoints) == 6


def test_cut_boxes_on_both_sides_balance() -> None:
    # The object lies between the columns 0 and 1; the views of both cut it at their borders.
    cut: dict[int, Box] = {12: (500, 200, 140, 80), 13: (0, 200, 140, 80)}
    sights, _ = located([(0.0, 0.0, 1.5)], around(0, thing("sofa", cut)))
    heading = np.degrees(np.arctan2(sights.rays[0, 0], sights.rays[0, 1]))
    assert heading == pytest.approx(15.0)
    assert sights.rays[0, 2] == pytest.approx(0.0, abs=1e-12)


def test_a_single_ray_is_cut_at_the_typical_distance_and_tells_the_size() -> None:
    sights, placed = located([(5.0, 0.0, 1.5)], around(0, thing("vase", {NORTH: (300, 220, 40, 40)})))
    np.testing.assert_allclose(placed.positions, [(5.0, TYPICAL_DISTANCE, 1.5)])
    np.testing.assert_allclose(placed.extents, (40 / FOCAL * TYPICAL_DISTANCE) ** 2)
    np.testing.assert_allclose(sights.solid_angles, (40 / FOCAL) ** 2)


def test_an_id_means_one_object_in_a_house_and_another_in_the_next() -> None:
    houses = Houses.of([house([(0, 0, 0), (1, 0, 0)]), house([(0, 0, 0)], scan="other")])
    box = thing("lamp", {NORTH: (0, 0, 9, 9)})
    sightings = Sightings.of(
        houses,
        [around(0, box), around(1, box), around(0, box, scan="other"), around(0, box, scan="elsewhere")],
    )
    assert sightings.objects.tolist() == [0, 0, 1]
    assert sightings.viewpoints.tolist() == [0, 1, 2]
    assert sightings.house.tolist() == [0, 1]


def test_an_object_without_a_box_is_passed_over() -> None:
    sightings = Sightings.of(Houses.of([house([(0, 0, 0)])]), [around(0, thing("lamp", {}))])
    assert sightings.names == ()


def test_two_names_for_one_object_are_refused() -> None:
    houses = Houses.of([house([(0, 0, 0), (1, 0, 0)])])
    box: dict[int, Box] = {NORTH: (0, 0, 9, 9)}
    with pytest.raises(
        DataError, match="object '1' is 'lamp' and, at viewpoint '1', 'sofa'; expected one name"
    ):
        Sightings.of(houses, [around(0, thing("lamp", box)), around(1, thing("sofa", box))])


def test_a_viewpoint_that_the_house_does_not_have_is_refused() -> None:
    with pytest.raises(DataError, match="House 'home' has no viewpoint '7'"):
        Sightings.of(Houses.of([house([(0, 0, 0)])]), [around(7)])
