from __future__ import annotations

from math import exp, inf

import numpy as np
import pytest

from babywalk.common.errors import ConfigError, DataError
from babywalk.common.ragged import Ragged
from babywalk.navigation.measures import MEASURES, Pairs, cls, ndtw, score, score_one, sdtw, success
from babywalk.navigation.measures.pairs import blocks

WHOLE = [0, 1, 2, 3]


def expected_scores(pl, ne, sr, osr, spl, cls_, ndtw_, sdtw_):
    return pytest.approx(
        dict(zip(MEASURES, (pl, ne, sr, osr, spl, cls_, ndtw_, sdtw_), strict=True)), rel=1e-14
    )


def test_scores_of_a_prediction_that_stops_two_metres_early(corridor):
    coverage = (3 + exp(-2 / 3)) / 4
    expected = coverage * 6
    length_score = expected / (expected + abs(expected - 4))
    ndtw_ = exp(-2 / (4 * 3))
    assert score_one(corridor, [0, 1, 2], WHOLE) == expected_scores(
        4, 2, 1, 1, 1, coverage * length_score, ndtw_, ndtw_
    )


def test_scores_of_a_prediction_that_passes_the_goal_and_returns(corridor):
    assert score_one(corridor, [0, 1, 2, 3, 2, 1], WHOLE) == expected_scores(
        10, 4, 0, 1, 0, 6 / (6 + 4), exp(-(2 + 4) / (4 * 3)), 0
    )


def test_a_detour_lowers_spl(corridor):
    scores = score_one(corridor, [0, 1, 0, 1, 2, 3], WHOLE)
    assert scores["SPL"] == pytest.approx(6 / 10)
    assert scores["SR"] == 1


def test_spl_uses_the_shortest_path_and_not_the_reference(corridor):
    assert score_one(corridor, [0, 1], [0, 1, 2, 1])["SPL"] == 1.0


def test_success_is_strictly_nearer_than_the_threshold(corridor):
    prediction, reference = [0, 1, 2], WHOLE
    at = score_one(corridor, prediction, reference, threshold=2.0)
    above = score_one(corridor, prediction, reference, threshold=2.0001)
    assert (at["SR"], at["OSR"]) == (0, 0)
    assert (above["SR"], above["OSR"]) == (1, 1)


def test_repeated_viewpoints_count_except_at_the_end(corridor):
    stopped = score_one(corridor, [0, 1, 2, 2, 2], [0, 1, 2, 3, 3])
    assert stopped == score_one(corridor, [0, 1, 2], WHOLE)
    waited = score_one(corridor, [0, 0, 1, 2, 3], [1, 2, 3])
    assert waited["nDTW"] == pytest.approx(exp(-4 / (3 * 3)))


class TestDegenerateCases:
    def test_standing_still_at_a_reference_of_one_viewpoint(self, corridor):
        assert score_one(corridor, [1, 1], [1]) == expected_scores(0, 0, 1, 1, 1, 1, 1, 1)

    def test_standing_next_to_a_reference_of_one_viewpoint(self, corridor):
        near = exp(-2 / 3)
        assert score_one(corridor, [0], [1]) == expected_scores(0, 2, 1, 1, 1, near, near, near)

    def test_walking_for_a_reference_of_one_viewpoint(self, corridor):
        scores = score_one(corridor, [1, 0, 1], [1])
        assert scores == expected_scores(4, 0, 1, 1, 1, 0, exp(-2 / 3), exp(-2 / 3))

    def test_standing_still_at_the_start_of_a_reference(self, corridor):
        coverage = (1 + exp(-2 / 3) + exp(-4 / 3) + exp(-2)) / 4
        ndtw_ = exp(-(2 + 4 + 6) / (4 * 3))
        assert score_one(corridor, [0], WHOLE) == expected_scores(0, 6, 0, 0, 0, coverage / 2, ndtw_, 0)

    def test_a_reference_that_returns_to_its_start_gives_spl_equal_to_success(self, corridor):
        loop = [0, 1, 2, 3, 2, 1, 0]
        assert score_one(corridor, loop, loop)["SPL"] == 1.0
        assert score_one(corridor, [0], loop)["SPL"] == 1.0
        assert score_one(corridor, [0, 1, 2], loop)["SPL"] == 0.0

    def test_a_reference_that_returns_to_its_start_can_give_an_spl_of_zero(self, corridor):
        """As the simulator's script: success * 0 / max(0, walked, 0.01)."""
        loop = [0, 1, 2, 3, 2, 1, 0]
        for prediction in (loop, [0], [0, 1], [0, 1, 2]):
            default = score_one(corridor, prediction, loop)
            zero = score_one(corridor, prediction, loop, spl_start_is_goal="zero")
            assert zero == default | {"SPL": 0.0}
        assert score_one(corridor, [0, 1], loop, spl_start_is_goal="success")["SPL"] == 1.0

    def test_the_convention_for_start_is_goal_changes_no_other_path(self, corridor):
        predictions, references = Ragged.of([[0, 1, 0, 1, 2], [0, 1, 0]]), Ragged.of([WHOLE, [0, 1, 2, 1, 0]])
        scores = score(corridor, predictions, references, spl_start_is_goal="zero")
        assert scores.spl.tolist() == [pytest.approx(6 / 8), 0.0]

    def test_an_unreachable_goal_gives_an_infinite_error_and_no_nan(self, corridor):
        assert score_one(corridor, [4], WHOLE) == expected_scores(0, inf, 0, 0, 0, 0, 0, 0)

    def test_a_jump_to_an_unconnected_viewpoint_gives_an_infinite_length_and_no_nan(self, corridor):
        assert score_one(corridor, [0, 4, 3], WHOLE) == expected_scores(inf, 0, 1, 1, 0, 0, 0, 0)

    def test_the_mean_over_an_infinite_error_is_infinite(self, corridor):
        means = score(corridor, Ragged.of([[4], WHOLE]), Ragged.of([WHOLE, WHOLE])).means()
        assert means["NE"] == inf
        assert means["SR"] == means["CLS"] == means["nDTW"] == 0.5

    def test_a_jump_counts_as_the_shortest_path(self, corridor):
        assert score_one(corridor, [0, 3], WHOLE)["PL"] == 6.0

    def test_no_paths_have_no_mean(self, corridor):
        scores = score(corridor, Ragged.of([]), Ragged.of([]))
        assert scores.table().shape == (0, 8)
        with pytest.raises(DataError, match=r"There are no paths to average over\."):
            scores.means()


class TestErrors:
    def test_empty_paths_are_refused(self, corridor):
        with pytest.raises(DataError, match=r"Prediction 1 is empty; a path has at least the viewpoint"):
            score(corridor, Ragged.of([[0], [], []]), Ragged.of([[0], [0], []]))
        with pytest.raises(DataError, match=r"Reference 2 is empty"):
            score(corridor, Ragged.of([[0], [0], [0]]), Ragged.of([[0], [0], []]))

    def test_different_numbers_of_paths_are_refused(self, corridor):
        with pytest.raises(
            DataError, match=r"There are 1 predictions and 2 references; expected one for each"
        ):
            score(corridor, Ragged.of([[0]]), Ragged.of([[0], [0]]))

    @pytest.mark.parametrize("viewpoint", [-1, 5])
    def test_unknown_viewpoints_are_refused(self, corridor, viewpoint):
        with pytest.raises(DataError, match=rf"Prediction 1 has viewpoint {viewpoint}; .* from 0 to 4\."):
            score(corridor, Ragged.of([[0], [1, viewpoint]]), Ragged.of([[0], [1]]))

    def test_a_path_that_leaves_its_house_is_refused(self, two_houses):
        with pytest.raises(DataError, match=r"Prediction 0 has viewpoint 'b-0'; expected viewpoints of a,"):
            score_one(two_houses, [0, 2], [0, 1])

    def test_a_prediction_in_another_house_is_refused(self, two_houses):
        with pytest.raises(
            DataError, match=r"Prediction 0 is in house b; expected its reference's house a\."
        ):
            score_one(two_houses, [2], [0, 1])

    def test_an_unconnected_reference_is_refused(self, corridor):
        with pytest.raises(DataError, match=r"Reference 1 has a step between unconnected viewpoints"):
            score(corridor, Ragged.of([[0], [0]]), Ragged.of([[0], [3, 4]]))

    def test_an_unknown_convention_for_start_is_goal_is_refused(self, corridor):
        with pytest.raises(
            ConfigError, match=r"spl_start_is_goal 'zeros' is not known\. Did you mean 'zero'\?"
        ):
            score_one(corridor, [0], [0], spl_start_is_goal="zeros")

    @pytest.mark.parametrize("threshold", [0.0, -1.0, inf, float("nan")])
    def test_invalid_thresholds_are_refused(self, corridor, threshold):
        with pytest.raises(ConfigError, match=r"threshold = .* is out of range; expected metres above 0"):
            score_one(corridor, [0], [0], threshold=threshold)


def test_single_measures_equal_the_columns_of_scores(corridor):
    predictions, references = Ragged.of([[0, 1, 2], [0]]), Ragged.of([WHOLE, WHOLE])
    pairs, scores = Pairs.of(corridor, predictions, references), score(corridor, predictions, references)
    np.testing.assert_allclose(success(pairs) + cls(pairs), scores.success + scores.cls, rtol=1e-15)
    np.testing.assert_allclose(sdtw(pairs), scores.sdtw, rtol=1e-15)
    assert pairs.distances.shape == (3, 4, 2)


def test_measures_need_only_distances():
    """A prediction and a reference of two viewpoints each, two metres apart, without a house."""
    one = np.ones(1)
    pairs = Pairs(
        distances=np.array([[0.0, 2.0], [2.0, 0.0]])[..., None],
        prediction_lengths=np.array([2]),
        reference_lengths=np.array([2]),
        prediction_metres=2 * one,
        reference_metres=2 * one,
        shortest_metres=2 * one,
    )
    assert [float(measure(pairs)[0]) for measure in MEASURES.values()] == [2, 0, 1, 1, 1, 1, 1, 1]
    assert ndtw(pairs) == [1.0]


def test_an_empty_batch_gives_empty_measures(corridor):
    pairs = Pairs.of(corridor, Ragged.of([]), Ragged.of([]))
    assert all(measure(pairs).shape == (0,) for measure in MEASURES.values())


def test_blocks_have_every_pair_once_and_at_most_the_given_cells(corridor):
    rng = np.random.default_rng(0)
    predictions, references = (
        Ragged.of([rng.integers(0, 4, size=size) for size in rng.integers(1, 20, size=200)]) for _ in range(2)
    )
    found = list(blocks(corridor, predictions, references, cells=500))
    assert sorted(np.concatenate([rows for rows, _ in found]).tolist()) == list(range(200))
    assert max(pairs.distances.size for _, pairs in found) <= 500


def test_the_columns_of_scores_are_in_the_order_of_the_measures(corridor):
    scores = score(corridor, Ragged.of([[0, 1, 2]]), Ragged.of([WHOLE]))
    assert list(scores.means()) == ["PL", "NE", "SR", "OSR", "SPL", "CLS", "nDTW", "SDTW"]
    assert scores.table()[0].tolist() == list(scores.means().values())
    assert (scores.path_length[0], scores.navigation_error[0]) == (4.0, 2.0)
