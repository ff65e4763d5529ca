"""Shortest paths of networkx 3.6.1 and DTW of dtw-python 1.9.0 (symmetric1) on a random graph of 14
viewpoints.

`vectors.json` holds their results, as numbers.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from babywalk.buildings.houses import Houses
from babywalk.navigation.measures import score_one

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text())
EXACT = {"rel": 1e-12, "abs": 1e-12}


@pytest.fixture(scope="module")
def houses(build) -> Houses:
    return Houses.of([build(VECTORS["positions"], [tuple(edge) for edge in VECTORS["edges"]])])


def test_geodesics_equal_those_of_networkx(houses):
    count = len(VECTORS["positions"])
    found = houses.distances.reshape(count, count)
    assert found == pytest.approx(np.array(VECTORS["distances"]), **EXACT)


@pytest.mark.parametrize("pair", VECTORS["pairs"], ids=range(len(VECTORS["pairs"])))
def test_ndtw_and_success_follow_from_the_other_implementations(houses, pair):
    prediction, reference, distances = pair["prediction"], pair["reference"], VECTORS["distances"]
    scores = score_one(houses, prediction, reference)
    ndtw = math.exp(-pair["dtw"] / (3.0 * len(reference)))
    error = distances[prediction[-1]][reference[-1]]
    length = sum(distances[a][b] for a, b in pairwise(prediction))
    shortest = distances[reference[0]][reference[-1]]
    success = float(error < 3.0)
    assert scores["nDTW"] == pytest.approx(ndtw, **EXACT)
    assert scores["SDTW"] == pytest.approx(ndtw * success, **EXACT)
    assert scores["NE"] == pytest.approx(error, **EXACT)
    assert scores["PL"] == pytest.approx(length, **EXACT)
    assert scores["OSR"] == float(min(distances[node][reference[-1]] for node in prediction) < 3.0)
    if prediction[0] == reference[0]:  # SPL is defined from the episode's start
        assert scores["SPL"] == pytest.approx(success * shortest / max(shortest, length), **EXACT)
