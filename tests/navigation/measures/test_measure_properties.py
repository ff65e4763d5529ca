"""Properties for any paths in any houses: equal to the plain measures, and invariances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babywalk.buildings.houses import Houses
from babywalk.common.ragged import Ragged
from babywalk.navigation.measures import MEASURES, SPL_START_IS_GOAL, Pairs, score
from babywalk.navigation.measures.dtw import dtw
from babywalk.navigation.measures.plain import dtw as plain_dtw
from babywalk.navigation.measures.plain import score_plain

coordinates = st.tuples(*[st.integers(0, 12).map(lambda number: number / 2)] * 3)


@dataclass
class Case:
    """Two houses of any shape, connected or not, and paths in them; references are in one connected part."""

    graphs: list[tuple[list[tuple[float, ...]], list[tuple[int, int]]]]
    picks: list[tuple[int, list[int], list[int]]]  # house, prediction, reference (modulo N)

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


@given(
    case=cases(),
    threshold=st.sampled_from([0.5, 3.0, 10.0]),
    start_is_goal=st.sampled_from(sorted(SPL_START_IS_GOAL)),
)
@settings(deadline=None, max_examples=200)
def test_scores_equal_the_plain_measures(build, case, threshold, start_is_goal):
    houses = case.houses(build)
    predictions, references = case.paths(houses)
    options = {"threshold": threshold, "spl_start_is_goal": start_is_goal}
    scores = score(houses, Ragged.of(predictions), Ragged.of(references), **options)

    def distance(a: int, b: int) -> float:
        return float(houses.distance(a, b))

    plain = [
        list(score_plain(distance, *pair, **options).values())
        for pair in zip(predictions, references, strict=True)
    ]
    np.testing.assert_allclose(scores.table(), plain, rtol=1e-9, atol=1e-9)


@given(case=cases(), cells=st.integers(1, 300), stops=st.lists(st.integers(0, 4), min_size=6, max_size=6))
@settings(deadline=None)
def test_order_block_size_and_repeated_ends_do_not_change_the_scores(build, case, cells, stops):
    houses = case.houses(build)
    predictions, references = case.paths(houses)
    scores = score(houses, Ragged.of(predictions), Ragged.of(references)).table()
    stopped = [path + path[-1:] * stop for path, stop in zip(predictions, stops, strict=False)]
    backwards = score(houses, Ragged.of(stopped[::-1]), Ragged.of(references[::-1]), cells=cells).table()
    np.testing.assert_allclose(backwards[::-1], scores, rtol=1e-12)
    pairs = Pairs.of(houses, Ragged.of(predictions), Ragged.of(references))
    np.testing.assert_allclose(
        np.column_stack([measure(pairs) for measure in MEASURES.values()]), scores, rtol=1e-12
    )


@given(case=cases())
@settings(deadline=None)
def test_scores_are_within_their_ranges(build, case):
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
def test_a_path_against_itself_has_perfect_scores(build, case):
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
def test_dtw_equals_the_plain_loop_for_any_distances(distances):
    """Also for distances that are not a metric; padding beyond a pair's lengths is never read."""
    height, width = len(distances), len(distances[0])
    padded = np.full((height + 2, width + 3, 2), np.nan)
    padded[:height, :width] = np.array(distances)[..., None]
    least = plain_dtw(lambda i, j: distances[i][j], range(height), range(width))
    part = plain_dtw(lambda i, j: distances[i][j], range(height), range(1))
    found = dtw(padded, np.array([height, height]), np.array([width, 1]))
    assert found == pytest.approx([least, part], rel=1e-9, abs=1e-9)
