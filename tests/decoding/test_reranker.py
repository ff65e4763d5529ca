"""The re-ranker of frontier search: features, fitting, its file, and its use."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from searching import HandMade, one_step, walked

from babywalk.common.errors import ConfigError, DataError
from babywalk.decoding.best_first import Frontier
from babywalk.decoding.reranker import FEATURES, LinearReranker, feature_table, fit_weights, read_reranker
from babywalk.modules.speaker import TextScores

LOGITS = {0: {0: -5.0, 3: 1.5}, 3: {2: 0.5}, 2: {2: 3.0, 4: 1.0}, 4: {4: 0.0}}
PROGRESS = {2: 0.25, 4: 0.75}


def reranker(**weights: float) -> LinearReranker:
    """With the features as they are."""
    count = len(weights)
    return LinearReranker(
        features=tuple(weights),
        means=(0.0,) * count,
        deviations=(1.0,) * count,
        weights=tuple(weights.values()),
        decoding="frontier",
        task="r2r",
        split="val_seen",
        instructions=3,
        model="0",
    )


def test_the_features_by_hand() -> None:
    """Two candidates: 0 -> 3 -> 2 with STOP, and on to 4 with STOP. The squares of the house are 2 m wide."""
    rollout = HandMade(LOGITS, progress=PROGRESS)
    rollout.speaker = lambda *_: TextScores(np.array([-6.0, -4.0]), np.array([4, 2]))
    with rollout.inference():
        *_, found = Frontier(candidates=2, known_map=True).explore_whole(rollout, one_step())
        table = feature_table(found, rollout, FEATURES)
    stop_at_2 = 3 - math.log(math.exp(3) + math.exp(1))  # all other log-probabilities are about 0
    go_to_4 = 1 - math.log(math.exp(3) + math.exp(1))
    first = math.log(1 / (1 + math.exp(-6.5)))
    short = [4.0, 5.0, 5 / 3, first + stop_at_2, (first + stop_at_2) / 3, 0.25, -6.0, -1.5]
    long = [4 + 8**0.5, 3.0, 3 / 4, first + go_to_4, (first + go_to_4) / 4, 0.75, -4.0, -2.0]
    assert table.tolist() == [pytest.approx(short, abs=1e-5), pytest.approx(long, abs=1e-5)]


def test_the_fitted_weights_minimise_the_loss() -> None:
    """Of three candidates one or two succeed. No small change of the weights lowers the loss by hand."""
    random = torch.Generator().manual_seed(0)
    table = torch.randn(60, 2, generator=random, dtype=torch.float64) * torch.tensor([3.0, 0.1]) + 5
    instruction = torch.arange(60) // 3
    noisy = table[:, 0] + torch.randn(60, generator=random, dtype=torch.float64)
    success = noisy > noisy.view(20, 3).median(dim=1).values.repeat_interleave(3)
    success[:3], success[3:6] = False, True  # these two say nothing
    means, deviations, weights = fit_weights(table, instruction, success)
    torch.testing.assert_close(means, table.mean(dim=0))
    torch.testing.assert_close(deviations, table.std(dim=0, correction=0))

    def loss(weights: torch.Tensor) -> float:
        scores = ((table - means) / deviations @ weights)[6:].view(-1, 3).softmax(dim=1)
        won = (scores * success[6:].view(-1, 3)).sum(dim=1)
        return float(-won.log().mean() + 1e-3 * weights.square().sum())

    least = loss(weights)
    for change in torch.tensor([[0.01, 0], [-0.01, 0], [0, 0.01], [0, -0.01]], dtype=torch.float64):
        assert loss(weights + change) > least
    assert weights[0] > abs(weights[1])
    shuffled = torch.randperm(60, generator=random)
    again = fit_weights(table[shuffled], instruction[shuffled], success[shuffled])[2]
    torch.testing.assert_close(again, weights, atol=1e-4, rtol=1e-4)


def test_instructions_that_decide_nothing_cannot_be_fitted_on() -> None:
    table = torch.zeros(4, 1, dtype=torch.float64)
    with pytest.raises(ConfigError, match="No instruction has both a path that succeeds and one that fails"):
        fit_weights(table, torch.tensor([0, 0, 1, 1]), torch.tensor([True, True, False, False]))


def test_scores_are_weighted_sums_of_standardised_features() -> None:
    rollout = HandMade(LOGITS, progress=PROGRESS)
    with rollout.inference():
        *_, found = Frontier(candidates=2, known_map=True).explore_whole(rollout, one_step())
    one = reranker(metres=2.0, progress=-3.0)
    standardised = LinearReranker(**{**vars_of(one), "means": (1.0, 0.5), "deviations": (2.0, 0.1)})
    expected = [2 * (4 - 1) / 2 - 3 * (0.25 - 0.5) / 0.1, 2 * (3 + 8**0.5) / 2 - 3 * (0.75 - 0.5) / 0.1]
    assert standardised.scores(found, rollout).tolist() == pytest.approx(expected, abs=1e-5)
    assert not one.needs_speaker
    assert reranker(speaker_mean=1.0).needs_speaker


def vars_of(one: LinearReranker) -> dict[str, Any]:
    return {name: getattr(one, name) for name in LinearReranker.__dataclass_fields__}


def test_frontier_search_is_re_ranked() -> None:
    """STOP at 2 is likelier; the re-ranker prefers long paths. Short searches do not choose."""
    rollout = HandMade(LOGITS)
    rollout.reranker = reranker(metres=1.0)
    chosen = {
        decoder: walked(decoder.decode(rollout, one_step()))[0][-1]
        for decoder in (
            Frontier(candidates=2),
            Frontier(candidates=2, rerank=False),
            Frontier(candidates=2, per_step=True),
            Frontier(short=True),
        )
    }
    assert list(chosen.values()) == [4, 2, 2, 2]


def test_a_written_re_ranker_is_read_back(tmp_path: Path) -> None:
    one = reranker(metres=2.0, speaker_sum=0.125)
    one.save(tmp_path / "reranker.json")
    assert read_reranker(tmp_path / "reranker.json") == one


@pytest.mark.parametrize(
    "change",
    [
        {"features": ["metres", "hue"]},
        {"weights": [1.0]},
        {"weights": [1.0, float("nan")]},
        {"deviations": [1.0, 0.0]},
        {"means": "none"},
        {"split": None},
        {"extra": 1},
    ],
)
def test_a_re_ranker_with_other_fields_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "reranker.json"
    reranker(metres=2.0, speaker_sum=0.125).save(file)
    fields = json.loads(file.read_text())
    del fields["sha256"]
    file.write_text(json.dumps({**fields, **change}))
    with pytest.raises(DataError, match=r"reranker\.json: is not a re-ranker\. Delete .*'babywalk rerank'"):
        read_reranker(file)


def test_a_damaged_re_ranker_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "reranker.json"
    reranker(metres=2.0).save(file)
    file.write_text(file.read_text().replace("2.0", "3.0"))
    with pytest.raises(DataError, match="does not match its own SHA-256"):
        read_reranker(file)
    file.write_text("[]")
    with pytest.raises(DataError, match=r"reranker\.json"):
        read_reranker(file)
