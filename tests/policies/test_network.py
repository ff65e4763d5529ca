from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from babywalk.episodes.vocabulary import SPECIAL, Vocabulary
from babywalk.errors import ConfigError, DataError
from babywalk.policies.config import DECODERS, PolicyConfig
from babywalk.policies.model import Model, load_model, new_model, save_model
from babywalk.policies.network import Network
from babywalk.policies.parts.attention import ViewAttention, WordAttention
from babywalk.policies.parts.memory import SUMMARIES
from babywalk.policies.parts.text import TextEncoder
from babywalk.policies.parts.trajectory import TrajectoryEncoder

TINY = {"hidden": 8, "action": 4, "words": 6, "dropout": 0.0}
VIEW, ACTION = 10, 12


def model(**options: object) -> Model:
    vocabulary = Vocabulary((*SPECIAL, "go", "stop", "door"))
    config = PolicyConfig(**{**TINY, **options})
    return new_model(config, vocabulary, None, features="x", view_width=VIEW, action_width=ACTION, seed=0)


def decide(network: Network, walkers: int = 3) -> torch.Tensor:
    torch.manual_seed(1)
    text = network.read(
        torch.tensor([[3, 4, 0], [5, 4, 3], [3, 0, 0]])[:walkers], torch.tensor([2, 3, 1])[:walkers]
    )
    possible = torch.tensor([[True, True, False, True]] * walkers)
    memory = network.memory.read(network.memory.empty(walkers))
    decision = network(
        network.begin(text),
        torch.randn(3, 36, VIEW)[:walkers],
        torch.randn(3, 4, ACTION)[:walkers],
        possible,
        text,
        memory,
    )
    return decision.logits


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("memory", SUMMARIES)
def test_scores_are_for_possible_actions_and_gradients_reach_everything_used(
    decoder: str, memory: str
) -> None:
    network = model(decoder=decoder, memory=memory).network
    logits = decide(network)
    assert torch.isinf(logits[:, 2]).all()
    assert torch.isfinite(logits[:, [0, 1, 3]]).all()
    logits[:, [0, 1, 3]].square().sum().backward()
    idle = {name for name, weight in network.named_parameters() if weight.grad is None}
    assert all(name.startswith(("trajectory", "memory")) for name in idle)  # there is no history here


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_walker_is_scored_alone_as_in_a_crowd(decoder: str) -> None:
    network = model(decoder=decoder).network.eval()
    with torch.no_grad():
        assert torch.allclose(decide(network, 3)[:1], decide(network, 1), atol=1e-6)


def test_reading_ignores_padding_and_keeps_the_order_of_words() -> None:
    torch.manual_seed(0)
    encoder = TextEncoder(torch.randn(6, 4), 5, dropout=0.0, frozen=True)
    alone = encoder(torch.tensor([[3, 4]]), torch.tensor([2]))
    padded = encoder(torch.tensor([[3, 4, 0, 0], [5, 5, 5, 5]]), torch.tensor([2, 4]))
    assert torch.allclose(padded.words[0, :2], alone.words[0], atol=1e-6)
    assert torch.allclose(padded.summary[0], alone.summary[0], atol=1e-6)
    assert padded.padding.tolist() == [[False, False, True, True], [False] * 4]
    # The last state has read the first word last: it is the context of the first word.
    assert torch.allclose(alone.words[0, 0], alone.summary[0], atol=1e-6)


def test_frozen_words_stay_and_others_learn() -> None:
    for frozen in (True, False):
        encoder = TextEncoder(torch.randn(6, 4), 5, dropout=0.0, frozen=frozen)
        encoder(torch.tensor([[3]]), torch.tensor([1])).summary.sum().backward()
        assert (encoder.vectors.weight.grad is None) == frozen


def test_attention_looks_where_the_query_points() -> None:
    look = ViewAttention(2, 3)
    with torch.no_grad():
        look.query.weight.copy_(torch.tensor([[50.0, 0], [0, 50.0], [0, 0]]))
    views = torch.eye(3)[None]
    seen, weights = look(torch.tensor([[0.0, 1.0]]), views)
    assert weights[0].tolist() == pytest.approx([0, 1, 0], abs=1e-6)
    assert seen[0].tolist() == pytest.approx([0, 1, 0], abs=1e-6)
    _, weights = look(torch.tensor([[0.0, 1.0]]), views, torch.tensor([[False, True, False]]))
    assert weights[0].tolist() == pytest.approx([0.5, 0, 0.5])


def test_padding_is_never_read() -> None:
    torch.manual_seed(0)
    attention = WordAttention(4)
    words = torch.randn(1, 3, 4)
    padding = torch.tensor([[False, False, True]])
    first, weights = attention(torch.randn(1, 4), words, padding)
    assert weights[0, 2] == 0
    words[0, 2] = 1e6
    torch.manual_seed(0)
    attention = WordAttention(4)
    torch.randn(1, 3, 4)
    again, _ = attention(torch.randn(1, 4), words, padding)
    assert torch.allclose(first, again)


def test_a_walk_is_remembered_alone_as_in_a_crowd() -> None:
    torch.manual_seed(0)
    encoder = TrajectoryEncoder(5, 6, 8, dropout=0.0)
    views, actions = torch.randn(2, 3, 36, 5), torch.randn(2, 3, 6)
    together = encoder(views, actions, torch.tensor([3, 1]))
    alone = encoder(views[1:, :1], actions[1:, :1], torch.tensor([1]))
    assert together.shape == (2, 16)
    assert torch.allclose(together[1:], alone, atol=1e-6)


def test_gradients_of_a_decision_are_right() -> None:
    network = model().network.double()
    text = network.read(torch.tensor([[3, 4]]), torch.tensor([2]))
    memory = torch.zeros(1, 24, dtype=torch.float64)
    possible = torch.ones(1, 3, dtype=torch.bool)

    def score(views: torch.Tensor, candidates: torch.Tensor) -> torch.Tensor:
        return network(network.begin(text), views, candidates, possible, text, memory).logits

    inputs = (torch.randn(1, 36, VIEW), torch.randn(1, 3, ACTION))
    assert torch.autograd.gradcheck(score, tuple(one.double().requires_grad_() for one in inputs))


def test_a_model_comes_back_to_the_bit(tmp_path: Path) -> None:
    made = model(decoder="coground")
    made.facts["task"] = "r4r"
    save_model(tmp_path / "model.safetensors", made)
    for path in (tmp_path, tmp_path / "model.safetensors"):
        read = load_model(path)
        assert read.config == made.config
        assert read.vocabulary == made.vocabulary
        assert read.facts == {"task": "r4r"}
        for name, weight in made.network.state_dict().items():
            assert torch.equal(read.network.state_dict()[name], weight)


def test_loading_is_strict(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    save_model(file, model())
    tensors = load_file(file)
    from safetensors import safe_open

    with safe_open(file, framework="pt") as opened:
        header = opened.metadata()
    name = "first_state.weight"
    less = {key: value for key, value in tensors.items() if key != name}
    save_file({**less, "more": torch.zeros(1)}, file, metadata=header)
    with pytest.raises(DataError, match=r"weights missing: first_state\.weight; left over: more"):
        load_model(file)
    save_file({**tensors, name: torch.zeros(2, 2)}, file, metadata=header)
    with pytest.raises(DataError, match=r"'first_state\.weight' has the shape \(2, 2\); expected \(8, 8\)"):
        load_model(file)
    save_file(tensors, file)
    with pytest.raises(DataError, match="holds None; expected 'babywalk model 1'"):
        load_model(file)
    file.write_bytes(b"\x80\x04pickle?")
    with pytest.raises(DataError, match="is no safetensors file of BabyWalk"):
        load_model(file)
    with pytest.raises(DataError, match="there is no such file"):
        load_model(tmp_path / "none.safetensors")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decoder": "coatend"}, r"decoder 'coatend' is not known\. Did you mean 'coattend'\?"),
        ({"steps": "words"}, r"steps 'words' is not known"),
        ({"hidden": 7}, r"hidden = 7 cannot be halved"),
        ({"hidden": 0}, r"hidden = 0 is too small"),
        ({"dropout": 1.0}, r"dropout = 1\.0 is no share"),
    ],
)
def test_a_policy_that_cannot_be(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        PolicyConfig(**options)


def test_the_same_seed_gives_the_same_network() -> None:
    one, two = model().network.state_dict(), model().network.state_dict()
    assert all(np.array_equal(one[name], two[name]) for name in one)
