"""Decoders by name and settings."""

from __future__ import annotations

import pytest

from babywalk.common.errors import ConfigError
from babywalk.decoding.beam import Beam
from babywalk.decoding.best_first import Frontier, StateFactored
from babywalk.decoding.decoders import Decoder, Greedy, Sample
from babywalk.decoding.pragmatic import Pragmatic
from babywalk.decoding.specs import DECODERS, decoder_of, spec_of

SPECS: dict[str, Decoder] = {
    "greedy": Greedy(),
    "sample:temperature=0.5,seed=1": Sample(temperature=0.5, seed=1),
    "beam": Beam(),
    "beam:size=3,by=progress,known_map=true": Beam(size=3, by="progress", known_map=True),
    "state-factored:candidates=20": StateFactored(candidates=20),
    "pragmatic:weight=0.5,known_map=true": Pragmatic(weight=0.5, known_map=True),
    "frontier:score=logit_mean,expansions=60,short=true,per_step=true,speaker=0.5": Frontier(
        per_step=True, speaker=0.5, score="logit_mean", expansions=60, short=True
    ),
}


@pytest.mark.parametrize("spec", SPECS)
def test_a_spec_names_a_decoder_and_its_settings(spec: str) -> None:
    assert decoder_of(spec) == SPECS[spec]
    assert spec_of(SPECS[spec]) == spec


@pytest.mark.parametrize("name", DECODERS)
def test_every_decoder_has_defaults(name: str) -> None:
    assert spec_of(decoder_of(name)) == name


def test_spaces_and_empty_settings_are_ignored() -> None:
    assert decoder_of("beam: size=3, by=progress,") == Beam(size=3, by="progress")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gredy", r"Decoder 'gredy' is not known\. Did you mean 'greedy'\?"),
        ("", "Decoder '' is not known. Choose from: greedy, sample, beam"),
        ("beam:sise=3", r"Decoder beam: sise is not known\. Did you mean size\?"),
        ("greedy:size=3", r"Decoder greedy: size is not known\."),
        ("beam:size=large", "Decoder beam: size = 'large' should be a whole number"),
        ("beam:size=0", r"Decoder beam: size = 0 is out of range\. Give at least 1"),
        ("beam:by=regret", r"Decoder beam: by 'regret' is not known\. .* likelihood, progress"),
        ("beam:size", "'size' is not an assignment"),
        ("frontier:score=sum", "Decoder frontier: score 'sum' is not known"),
        ("frontier:candidates=0,short=1", "short = 1 should be true or false"),
        ("frontier:expansions=0", r"expansions = 0 is out of range\. Give at least 1"),
        ("state-factored:speaker=-1", r"speaker = -1\.0 is out of range\. Give 0 or more"),
        ("sample:temperature=0", r"temperature = 0\.0 is out of range\. Give more than 0"),
    ],
)
def test_wrong_specs_are_refused_with_a_sentence(spec: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        decoder_of(spec)
