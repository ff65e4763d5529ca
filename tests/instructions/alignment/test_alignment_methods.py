from __future__ import annotations

import pytest

from babywalk.common.errors import ConfigError, DataError
from babywalk.common.ragged import Ragged
from babywalk.instructions.alignment.methods import align, evaluate_alignment
from babywalk.instructions.babysteps import BabySteps


def test_accuracy_counts_inner_ends_only() -> None:
    truth = Ragged.of([[1, 3, 5], [4], [2, 5]])
    accuracy = evaluate_alignment(Ragged.of([[1, 4, 5], [4], [0, 5]]), truth)
    assert (accuracy.exact, accuracy.within_one, accuracy.ends) == (1 / 3, 2 / 3, 3)


def test_alignments_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(DataError, match="different numbers of steps"):
        evaluate_alignment(Ragged.of([[1, 2]]), Ragged.of([[2]]))
    with pytest.raises(DataError, match="No episode has two steps"):
        evaluate_alignment(Ragged.of([[1]]), Ragged.of([[1]]))


def test_proportional_alignment(steps: BabySteps) -> None:
    aligned = align(steps, method="proportional")
    assert aligned.ends is not None
    assert aligned.ends[0].tolist() == [1, 3, 5, 5]  # after 3, 12, 18 and 19 of 19 words, on 5 edges
    assert [step.text for step in aligned.steps(0)][-1] == "Wait."


def test_a_method_without_its_model_is_refused(steps: BabySteps) -> None:
    with pytest.raises(ConfigError, match=r"'bset' is not known. Did you mean 'best'\?"):
        align(steps, method="bset")
    with pytest.raises(ConfigError, match="'best' needs an aligner and view features"):
        align(steps)
    with pytest.raises(ConfigError, match="'paper' needs a landmark classifier and view features"):
        align(steps, method="paper")
    with pytest.raises(ConfigError, match="joints = true needs the method 'best', not 'paper'"):
        align(steps, method="paper", joints=True)
