"""Scores on the real data that do not depend on a trained agent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from babywalk.buildings.houses import Houses, load_houses
from babywalk.common.ragged import Ragged
from babywalk.episodes.joining import chains, join_paths, join_rule
from babywalk.episodes.walks import Walks, load_walks
from babywalk.navigation.measures import score

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def houses(real_data: Path) -> Houses:
    return load_houses(real_data / "connectivity")


def walks(real_data: Path, houses: Houses, split: str) -> Walks:
    return load_walks(real_data / "R2R" / f"R2R_{split}.json", houses)


@pytest.mark.parametrize(
    ("split", "ne", "cls", "ndtw"),
    [("val_seen", 10.1854, 0.1781, 0.2093), ("val_unseen", 9.4797, 0.1825, 0.2254)],
)
def test_scores_of_an_agent_that_never_moves(real_data, houses, split, ne, cls, ndtw):
    paths = walks(real_data, houses, split).paths
    means = score(houses, Ragged.of(paths.firsts[:, None]), paths).means()
    assert means["NE"] == pytest.approx(ne, abs=5e-5)
    assert means["CLS"] == pytest.approx(cls, abs=5e-5)
    assert means["nDTW"] == pytest.approx(ndtw, abs=5e-5)
    assert means["PL"] == means["SR"] == means["OSR"] == means["SPL"] == means["SDTW"] == 0.0


def test_references_against_themselves_have_perfect_scores(real_data, houses):
    paths = walks(real_data, houses, "val_unseen").paths
    scores = score(houses, paths, paths)
    for values in (scores.success, scores.oracle_success, scores.cls, scores.ndtw, scores.sdtw):
        np.testing.assert_allclose(values, 1.0, rtol=1e-12)
    assert scores.path_length.mean() == pytest.approx(9.5046, abs=5e-5)
    # Eight references of this split are longer than the shortest path.
    assert np.count_nonzero(scores.spl < 1 - 1e-9) == 8


def test_r4r_references_are_longer_than_the_shortest_path(real_data, houses):
    r2r = walks(real_data, houses, "val_unseen")
    paths = join_paths(r2r, houses, chains(r2r, houses, join_rule("r4r")))
    scores = score(houses, paths, paths)
    np.testing.assert_allclose(scores.cls, 1.0, rtol=1e-12)
    np.testing.assert_allclose(scores.sdtw, 1.0, rtol=1e-12)
    assert scores.path_length.mean() == pytest.approx(20.223, abs=5e-4)
    assert scores.spl.mean() < 0.6
