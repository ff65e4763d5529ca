"""Pragmatic inference: the score by hand, and the deviations over all instructions."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from searching import HandMade, one_step, walked

from babywalk.common.errors import ConfigError
from babywalk.common.ragged import Ragged
from babywalk.decoding.pragmatic import Pragmatic
from babywalk.decoding.specs import decoder_of
from babywalk.modules.speaker import TextScores

LOGITS = {0: {0: 0.0, 1: 2.0, 3: 1.5}, 1: {1: 9.0}, 3: {3: 1.0, 2: 0.0}, 2: {2: 9.0}}


def speaker_of(scores: dict[int, float]) -> Any:
    """A speaker that scores paths by where they end."""

    def speaker(paths: Ragged, start_views: object, instructions: Ragged) -> TextScores:
        assert len(paths) == len(instructions)
        return TextScores(np.array([scores[end] for end in paths.lasts.tolist()]), np.ones(len(paths)))

    return speaker


def test_the_score_by_hand() -> None:
    """Follower -1, -3 | -2 and speaker -10, -4 | -7: the deviations are over all three candidates."""
    candidates = [
        SimpleNamespace(
            log_probability=torch.tensor(follower),
            walker=torch.zeros(len(follower), dtype=torch.int64),
            paths=Ragged.of([[number] for number in ends]),
            start_view=np.zeros(len(follower)),
            instructions=Ragged.of([[1, 2]]),
        )
        for follower, ends in (([-1.0, -3.0], [0, 1]), ([-2.0], [2]))
    ]
    rollout: Any = SimpleNamespace(speaker=speaker_of({0: -10.0, 1: -4.0, 2: -7.0}))
    # A stand-in for the rollout has what is read of it.
    found = Pragmatic(weight=0.75).base_scores(candidates, rollout)  # type: ignore[arg-type]
    speaker, follower = 6**0.5, (2 / 3) ** 0.5  # of -10, -4, -7, whose mean is -7; of -1, -3, -2
    assert found[0].tolist() == pytest.approx(
        [0.75 * -10 / speaker + 0.25 * -1 / follower, 0.75 * -4 / speaker + 0.25 * -3 / follower]
    )
    assert found[1].tolist() == pytest.approx([0.75 * -7 / speaker + 0.25 * -2 / follower])


@pytest.mark.parametrize(("weight", "path"), [(0.0, [0, 1]), (0.95, [0, 3]), (1.0, [0, 3])])
def test_the_speaker_decides_by_its_weight(weight: float, path: list[int]) -> None:
    rollout = HandMade(LOGITS)
    rollout.speaker = speaker_of({0: -9.0, 1: -5.0, 2: -4.0, 3: -3.0, 4: -9.0})
    decoder = Pragmatic(candidates=3, weight=weight, known_map=True)
    assert walked(decoder.decode(rollout, one_step())) == [path]


def test_batches_that_are_decoded_together_share_their_deviations() -> None:
    """Alone, each instruction is chosen by other deviations than together, in one batch or in two."""
    rollout = HandMade(LOGITS)
    rollout.speaker = speaker_of({0: -30.0, 1: -5.0, 2: -3.5, 3: -4.0, 4: -60.0})
    chosen = []
    for weight in np.linspace(0.05, 0.95, 19).tolist():
        decoder = Pragmatic(candidates=4, weight=weight)
        together = walked(decoder.decode(rollout, one_step([0, 1, 1])))
        parts = decoder.decode_all(rollout, [one_step([0]), one_step([1, 1])])
        assert [path for part in parts for path in walked(part)] == together
        alone = walked(decoder.decode(rollout, one_step([0]))) + walked(
            decoder.decode(rollout, one_step([1, 1]))
        )
        chosen.append(together == alone)
    assert not all(chosen)


def test_one_candidate_has_no_deviation() -> None:
    rollout = HandMade(LOGITS)
    rollout.speaker = speaker_of({1: -5.0})
    assert walked(Pragmatic(candidates=1).decode(rollout, one_step())) == [[0, 1]]


def test_settings_and_a_missing_speaker() -> None:
    assert decoder_of("pragmatic:candidates=20,weight=0.5") == Pragmatic(candidates=20, weight=0.5)
    assert dataclasses.asdict(decoder_of("pragmatic"))["weight"] == 0.95
    with pytest.raises(ConfigError, match=r"weight = 1\.5 is out of range\. Give a fraction"):
        decoder_of("pragmatic:weight=1.5")
    assert Pragmatic().needs_speaker
    with pytest.raises(ConfigError, match="asks for a speaker, but there is none"):
        Pragmatic().decode(HandMade(LOGITS), one_step())
