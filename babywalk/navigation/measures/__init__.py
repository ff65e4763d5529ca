"""Measures of how well predicted paths follow their references.

`score` computes all eight. For single measures, `Pairs.of` gathers the distances once, and each measure is
a function of the pairs.
"""

from __future__ import annotations

from babywalk.navigation.measures.bootstrap import confidence
from babywalk.navigation.measures.pairs import THRESHOLD, Pairs
from babywalk.navigation.measures.scores import (
    MEASURES,
    SPL_START_IS_GOAL,
    Scores,
    check_spl_start_is_goal,
    cls,
    navigation_error,
    ndtw,
    oracle_success,
    path_length,
    score,
    score_one,
    sdtw,
    spl,
    success,
)

__all__ = [
    "MEASURES",
    "SPL_START_IS_GOAL",
    "THRESHOLD",
    "Pairs",
    "Scores",
    "check_spl_start_is_goal",
    "cls",
    "confidence",
    "navigation_error",
    "ndtw",
    "oracle_success",
    "path_length",
    "score",
    "score_one",
    "sdtw",
    "spl",
    "success",
]
