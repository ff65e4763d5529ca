"""What must hold for any paths in any houses: the fast form against the plain one, and invariances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babywalk.buildings.houses import Houses
from babywalk.common.ragged import Ragged
from babywalk.navigation.measures import MEASURES, Pairs, score
from babywalk.navigation.measures.reference import score_plainly, warping
from babywalk.navigation.measures.warping import warping as fast_warping

coordinates = st.tuples(*[st.integers(0, 12).map(lambda number: number / 2)] * 3)


@dataclass
class Case:
    """Two houses of any shape, in parts or whole, and paths in them; references can be walked."""

    graphs: list[tuple[list[tuple[float, ...]], list[tuple[int, int]]]]
    picks: list[tuple[int, list[int], list[int]]]  # house, prediction, reference, to be wrapped into range

    def houses(self, build) -> Houses:
        return Houses.of([build(*graph, scan=f"h{number}") for number, graph in enumerate(self.graphs)])

    def paths(self, houses: Houses) -> tuple[list[list[int]], list[list[int]]]:
        predictions, references = [], []
        for house, prediction, reference in self.picks:
            inside = np.arange(houses.first[house], houses.first[house + 1])
            start = inside[reference[0] % len(inside)]
            together = inside[np.isfinite(houses.distance(start, inside))]
            predictions.append(inside[np.array(prediction) % len(inside)].tolist())
            references.append(together[np.array(reference) % len(together)].tolist())
        return predictions, references


@st.composite
def cases(draw) -> Case:
    graphs = []
    for _ in range(2):
        positions = draw(st.lists(coordinates, min_size=1, max_size=7, unique=True))
        node = st.integers(0, len(positions) - 1)
        graphs.append((positions, draw(st.lists(st.tuples(node, node), max_size=14))))
    path = st.lists(st.integers(0, 6), min_size=1, max_size=9)
    return Case(graphs, draw(st.lists(st.tuples(st.integers(0, 1), path, path), min_size=1, max_size=6)))


@given(case=cases(), threshold=st.sampled_from([0.5, 3.0, 10.0]))
@settings(deadline=None, max_examples=200)
def test_equal_to_the_plain_form(build, case, threshold):
    houses = case.houses(build)
    predictions, references = case.paths(houses)
    scores = score(houses, Ragged.of(predictions), Ragged.of(references), threshold=threshold)

    def distance(a: int, b: int) -> float:
        return float(houses.distance(a, b))

    plain = [
        list(score_plainly(distance, *pair, threshold=threshold).values())
        for pair in zip(predictions, references, strict=True)
    ]
    np.testing.assert_allclose(scores.table(), plain, rtol=1e-9, atol=1e-9)


@given(case=cases(), cells=st.integers(1, 300), stops=st.lists(st.integers(0, 4), min_size=6, max_size=6))
@settings(deadline=None)
def test_order_chunks_and_stops_change_nothing(build, case, cells, stops):
    houses = case.houses(build)
    predictions, references = case.paths(houses)
    scores = score(houses, Ragged.of(predictions), Ragged.of(references)).table()
    stopped = [path + path[-1:] * stop for path, stop in zip(predictions, stops, strict=False)]
    turned = score(houses, Ragged.of(stopped[::-1]), Ragged.of(references[::-1]), cells=cells).table()
    np.testing.assert_allclose(turned[::-1], scores, rtol=1e-12)
    pairs = Pairs.of(houses, Ragged.of(predictions), Ragged.of(references))
    np.testing.assert_allclose(
        np.column_stack([measure(pairs) for measure in MEASURES.values()]), scores, rtol=1e-12
    )


@given(case=cases())
@settings(deadline=None)
def test_ranges(build, case):
    houses = case.houses(build)
    scores = score(houses, *map(Ragged.of, case.paths(houses)))
    table = scores.table()
    assert not np.isnan(table).any()
    assert (table >= 0).all()
    assert (table[:, 2:] <= 1).all()
    assert (scores.success <= scores.oracle_success).all()
    assert (scores.spl <= scores.success).all()
    assert (scores.sdtw <= scores.ndtw).all()


@given(case=cases())
@settings(deadline=None)
def test_a_path_against_itself_is_perfect(build, case):
    houses = case.houses(build)
    references = Ragged.of(case.paths(houses)[1])
    scores = score(houses, references, references)
    assert (scores.navigation_error == 0).all()
    for values in (scores.success, scores.oracle_success, scores.cls, scores.ndtw, scores.sdtw):
        np.testing.assert_allclose(values, 1.0, rtol=1e-12)


@given(
    distances=st.integers(1, 7).flatmap(
        lambda width: st.lists(
            st.lists(st.floats(0, 100), min_size=width, max_size=width), min_size=1, max_size=7
        )
    )
)
def test_warping_of_any_distances(distances):
    """Also of those that no house has; padding beyond a pair's lengths is never read."""
    height, width = len(distances), len(distances[0])
    padded = np.full((height + 2, width + 3, 2), np.nan)
    padded[:height, :width] = np.array(distances)[..., None]
    least = warping(lambda i, j: distances[i][j], range(height), range(width))
    part = warping(lambda i, j: distances[i][j], range(height), range(1))
    found = fast_warping(padded, np.array([height, height]), np.array([width, 1]))
    assert found == pytest.approx([least, part], rel=1e-9, abs=1e-9)
