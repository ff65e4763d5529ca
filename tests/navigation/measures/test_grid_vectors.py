"""Published examples on a grid of 4 x 3 viewpoints, one metre apart, threshold 3 m."""

from __future__ import annotations

import pytest

from babywalk.buildings.houses import Houses
from babywalk.navigation.measures import score_one
from babywalk.navigation.measures.plain import dtw, score_plain

EXACT = {"rel": 0, "abs": 1e-12}

A = "00 10 11 21 22 32"
B = "00 01 11 21 31 32"
C = "01 11 21 31"


@pytest.fixture(scope="module")
def grid(build) -> Houses:
    """Viewpoint 3 * x + y is at (x, y)."""
    cells = [(x, y) for x in range(4) for y in range(3)]
    edges = [
        (i, j)
        for i, a in enumerate(cells)
        for j, b in enumerate(cells)
        if abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1
    ]
    return Houses.of([build(cells, edges)])


def viewpoints(text: str) -> list[int]:
    return [3 * int(x) + int(y) for x, y in text.split()]


def manhattan(a: str, b: str) -> float:
    return float(sum(abs(int(p) - int(q)) for p, q in zip(a, b, strict=True)))


@pytest.mark.parametrize(
    ("prediction", "reference", "cls"),
    [
        (A, A, 1.0),
        (A, B, 0.8199491512586387),
        (B, A, 0.8199491512586387),
        (A, C, 0.44197196102702557),
        (C, A, 0.6435694620652272),
    ],
)
def test_cls_equals_the_published_examples(grid, prediction, reference, cls):
    scores = score_one(grid, viewpoints(prediction), viewpoints(reference))
    assert scores["CLS"] == pytest.approx(cls, **EXACT)
    plain = score_plain(manhattan, prediction.split(), reference.split())
    assert plain["CLS"] == pytest.approx(cls, **EXACT)


def test_dtw_equals_the_published_example(grid):
    prediction, reference = "00 10 20 30", "00 10 21 32"
    assert dtw(manhattan, prediction.split(), reference.split()) == 3.0
    for scores in (
        score_one(grid, viewpoints(prediction), viewpoints(reference)),
        score_plain(manhattan, prediction.split(), reference.split()),
    ):
        assert scores["nDTW"] == pytest.approx(0.7788007830714049, **EXACT)
        assert scores["SDTW"] == pytest.approx(0.7788007830714049, **EXACT)


def test_sdtw_is_zero_without_success(grid):
    scores = score_one(grid, viewpoints("00 10"), viewpoints("00 10 21 32"))
    assert scores["nDTW"] > 0
    assert scores["SDTW"] == 0.0
