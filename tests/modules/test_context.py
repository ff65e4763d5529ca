"""g of equation 1: what becomes of the summaries of the past before an action is chosen."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from babywalk.episodes.vocabulary import SPECIAL, Vocabulary
from babywalk.modules.config import PolicyConfig
from babywalk.modules.memory import SUMMARIES, Memory
from babywalk.modules.model import Model, load_compatible, new_model


def model(seed: int = 0, **options: object) -> Model:
    config = PolicyConfig(**{"hidden": 2, "action": 4, "words": 6, "dropout": 0.0, **options})
    words = Vocabulary((*SPECIAL, "go"))
    return new_model(config, words, None, features="x", view_width=130, action_width=130, seed=seed)


# u of (3, 4) and v of (0, 0, 0, 2), remembered once: each is brought to the length of its root of D.
PAST = Memory(torch.tensor([[3.0, 4]]), torch.tensor([[0.0, 0, 0, 2]]), torch.ones(1, 1))
SUMMARIES_OF_PAST = [0.6 * math.sqrt(2), 0.8 * math.sqrt(2), 0, 0, 0, 2]


def test_joined_it_is_the_summaries_side_by_side() -> None:
    network = model().network
    assert network.context is None
    assert network.sum_up(PAST)[0].tolist() == pytest.approx(SUMMARIES_OF_PAST)


def test_as_an_mlp_it_has_two_layers_and_one_length() -> None:
    """First layer: (u1 + v4, -1), of which the second is cut to 0; last layer: (x, 1)."""
    network = model(context="mlp").network
    first, _, _, last = network.context
    with torch.no_grad():
        first.weight.copy_(torch.tensor([[1.0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0]]))
        first.bias.copy_(torch.tensor([0.0, -1]))
        last.weight.copy_(torch.tensor([[1.0, 5], [0, 5]]))
        last.bias.copy_(torch.tensor([0.0, 1]))
    x = 0.6 * math.sqrt(2) + 2
    length = math.hypot(x, 1) / math.sqrt(2)
    assert network.sum_up(PAST)[0].tolist() == pytest.approx([x / length, 1 / length])
    # Who heeds nothing walks as one behind whom nothing lies.
    nothing = network.sum_up(network.memory.empty(1))
    assert torch.equal(network.sum_up(PAST, torch.zeros(1, 1)), nothing)
    assert nothing[0].tolist() == pytest.approx([0, math.sqrt(2)])


@pytest.mark.parametrize("memory", SUMMARIES)
def test_whoever_remembers_nothing_has_none(memory: str) -> None:
    assert (model(memory=memory, context="mlp").network.context is None) == (memory == "none")


def test_whoever_sums_up_otherwise_decides_anew_and_reads_as_before() -> None:
    new, old = model(seed=0, context="mlp"), model(seed=1)
    drawn = new.network.decoder.act.score.weight.clone()
    load_compatible(new, old, Path("old"))
    assert torch.equal(new.network.decoder.act.score.weight, drawn)
    assert torch.equal(new.network.text.lstm.weight_ih_l0, old.network.text.lstm.weight_ih_l0)
