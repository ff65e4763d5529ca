from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babywalk.buildings.panorama import VIEW_ELEVATIONS, VIEW_HEADINGS, direction, nearest_view, unit


@pytest.mark.parametrize(
    ("offset", "heading", "elevation"),
    [
        ((0, 1, 0), 0, 0),  # +y is heading 0
        ((1, 0, 0), 90, 0),  # and headings grow clockwise
        ((0, -1, 0), 180, 0),
        ((-1, 0, 0), 270, 0),
        ((0, 1, 1), 0, 45),
        ((-1, 0, -1), 270, -45),
    ],
)
def test_direction_of_offsets(offset: tuple[float, ...], heading: float, elevation: float) -> None:
    found = direction(np.array(offset, dtype=float))
    assert np.degrees(found[0]) == pytest.approx(heading)
    assert np.degrees(found[1]) == pytest.approx(elevation)


def test_headings_are_below_two_pi() -> None:
    heading, _ = direction(np.array([[-1e-20, 1.0, 0.0]]))
    assert 0 <= heading[0] < 2 * np.pi


@given(st.floats(-10, 10), st.floats(-1.5, 1.5))
def test_direction_and_unit_vector_are_inverse(heading: float, elevation: float) -> None:
    found = direction(unit(np.array(heading), np.array(elevation)))
    assert np.cos(found[0] - heading) == pytest.approx(1)
    assert found[1] == pytest.approx(elevation, abs=1e-9)


def test_each_view_is_nearest_to_its_own_centre() -> None:
    assert nearest_view(VIEW_HEADINGS, VIEW_ELEVATIONS).tolist() == list(range(36))


@pytest.mark.parametrize(
    ("heading", "elevation", "view"),
    [
        (0, 0, 12),
        (14, 0, 12),
        (16, 0, 13),
        (-14, 0, 12),
        (90, 0, 15),
        (0, 16, 24),
        (0, -16, 0),
        (350, -60, 0),
    ],
)
def test_nearest_view(heading: float, elevation: float, view: int) -> None:
    assert nearest_view(np.radians(heading), np.radians(elevation)) == view
