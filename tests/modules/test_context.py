"""The context of a Baby-Step: g of the summaries of the history (equation 1)."""

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


# u = (3, 4) and v = (0, 0, 0, 2) after one step: each is L2-rescaled to the length sqrt(D).
MEMORY = Memory(torch.tensor([[3.0, 4]]), torch.tensor([[0.0, 0, 0, 2]]), torch.ones(1, 1))
SUMMARY = [0.6 * math.sqrt(2), 0.8 * math.sqrt(2), 0, 0, 0, 2]


def test_joined_context_is_the_concatenated_summaries() -> None:
    network = model().network
    assert network.context_mlp is None
    assert network.context(MEMORY)[0].tolist() == pytest.approx(SUMMARY)


def test_mlp_context_has_two_layers_and_is_l2_rescaled() -> None:
    """First layer: (u1 + v4, -1), whose second unit ReLU sets to 0; last layer: (x, 1)."""
    network = model(context="mlp").network
    first, _, _, last = network.context_mlp
    with torch.no_grad():
        first.weight.copy_(torch.tensor([[1.0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0]]))
        first.bias.copy_(torch.tensor([0.0, -1]))
        last.weight.copy_(torch.tensor([[1.0, 5], [0, 5]]))
        last.bias.copy_(torch.tensor([0.0, 1]))
    x = 0.6 * math.sqrt(2) + 2
    length = math.hypot(x, 1) / math.sqrt(2)
    assert network.context(MEMORY)[0].tolist() == pytest.approx([x / length, 1 / length])
    # A dropped history is the same as an empty one.
    empty = network.context(network.memory.empty(1, like=first.weight))
    assert torch.equal(network.context(MEMORY, torch.zeros(1, 1)), empty)
    assert torch.equal(network.context(MEMORY, torch.ones(1, 1)), network.context(MEMORY))
    assert empty[0].tolist() == pytest.approx([0, math.sqrt(2)])


@pytest.mark.parametrize("memory", SUMMARIES)
def test_agents_without_memory_have_no_context_mlp(memory: str) -> None:
    assert (model(memory=memory, context="mlp").network.context_mlp is None) == (memory == "none")


def test_a_model_with_another_context_keeps_its_decoder_and_loads_the_encoders() -> None:
    new, old = model(seed=0, context="mlp"), model(seed=1)
    initial = new.network.decoder.action_score.score.weight.clone()
    load_compatible(new, old, Path("old"))
    assert torch.equal(new.network.decoder.action_score.score.weight, initial)
    assert torch.equal(new.network.text.lstm.weight_ih_l0, old.network.text.lstm.weight_ih_l0)
