from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from builders import connectivity
from safetensors.torch import load_file, save_file

from babywalk.buildings.houses import Houses
from babywalk.common.errors import BabyWalkError, ConfigError, DataError
from babywalk.episodes.vocabulary import SPECIAL, Vocabulary
from babywalk.modules.attention import ViewAttention, WordAttention
from babywalk.modules.config import DECODERS, PolicyConfig
from babywalk.modules.decoder import State
from babywalk.modules.kernels.observation import Observation
from babywalk.modules.kernels.text_batch import TextBatch
from babywalk.modules.memory import SUMMARIES
from babywalk.modules.model import Model, load_model, new_model, save_model
from babywalk.modules.network import Network
from babywalk.modules.text_encoder import EncodedText, TextEncoder
from babywalk.modules.trajectory_encoder import TrajectoryEncoder
from babywalk.navigation.observation import Observer
from babywalk.navigation.world import Poses, World

TINY = {"hidden": 8, "action": 4, "words": 6, "dropout": 0.0}
WIDTH = 6
VIEW = ACTION = WIDTH + 128


def model(**options: object) -> Model:
    vocabulary = Vocabulary((*SPECIAL, "go", "stop", "door"))
    config = PolicyConfig(**{**TINY, **options})
    return new_model(config, vocabulary, None, features="x", view_width=VIEW, action_width=ACTION, seed=0)


def scene(viewpoints: list[int], dtype: torch.dtype = torch.float32) -> Observation:
    """0 in the middle, with 1 east and 2 north of it; three actions at most."""
    houses = Houses.of([connectivity("h", [(0, 0, 0), (2, 0, 0), (0, 2, 0)], [(0, 1), (0, 2)])])
    views = np.random.default_rng(0).random((3, 36, WIDTH), dtype=np.float32)
    observer = Observer.over(World.of(houses), views).to("cpu")
    observer = replace(observer, orientation_table=observer.orientation_table.to(dtype))
    at = torch.tensor(viewpoints)
    return Observation(observer, Poses(at, 12 + torch.arange(len(at))))


def decide(network: Network, walkers: int = 3) -> torch.Tensor:
    text = network.read(
        torch.tensor([[3, 4, 0], [5, 4, 3], [3, 0, 0]])[:walkers], torch.tensor([2, 3, 1])[:walkers]
    )
    memory = network.memory.read(network.memory.empty(walkers))
    readers = TextBatch.of(text)
    seen = scene([1, 0, 2][:walkers])
    return network(network.begin(readers), seen, readers, memory).logits


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("memory", SUMMARIES)
def test_scores_are_for_possible_actions_and_gradients_reach_everything_used(
    decoder: str, memory: str
) -> None:
    network = model(decoder=decoder, memory=memory).network
    logits = decide(network)
    assert torch.isinf(logits).tolist() == [[False, False, True], [False] * 3, [False, False, True]]
    logits[:, :2].square().sum().backward()
    idle = {name for name, weight in network.named_parameters() if weight.grad is None}
    # There is no history here, and no action before.
    assert all(name.startswith(("trajectory", "memory", "decoder.previous.weight")) for name in idle)


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_walker_is_scored_alone_as_in_a_crowd(decoder: str) -> None:
    network = model(decoder=decoder).network.eval()
    with torch.no_grad():
        assert torch.allclose(decide(network, 3)[:1], decide(network, 1), atol=1e-6)


def test_reading_ignores_padding_and_keeps_the_order_of_words() -> None:
    torch.manual_seed(0)
    encoder = TextEncoder(torch.randn(6, 4), 5, dropout=0.0, frozen=True)
    one = encoder(torch.tensor([[3, 4]]), torch.tensor([2]))
    alone = one[torch.tensor([0])]
    both = encoder(torch.tensor([[3, 4, 0, 0], [5, 5, 5, 5]]), torch.tensor([2, 4]))
    padded = both[torch.tensor([0, 1])]
    assert torch.allclose(padded.words[0, :2], alone.words[0], atol=1e-6)
    assert torch.allclose(both.summary[0], one.summary[0], atol=1e-6)
    assert padded.tokens.tolist() == [[3, 4, 0, 0], [5, 5, 5, 5]]
    assert not padded.words[0, 2:].any()
    assert torch.equal(both[torch.tensor([0])].words, padded.words[:1, :2])  # no longer than needed
    assert torch.equal(both[torch.tensor([1, 0, 1])].words, padded.words[[1, 0, 1]])
    # The last state has read the first word last: it is the context of the first word.
    assert torch.allclose(alone.words[0, 0], one.summary[0], atol=1e-6)


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
    seen, weights = look.among(torch.tensor([[0.0, 1.0]]), views, torch.zeros(1, 3, dtype=torch.bool))
    assert weights[0].tolist() == pytest.approx([0, 1, 0], abs=1e-6)
    assert seen[0].tolist() == pytest.approx([0, 1, 0], abs=1e-6)
    _, weights = look.among(torch.tensor([[0.0, 1.0]]), views, torch.tensor([[False, True, False]]))
    assert weights[0].tolist() == pytest.approx([0.5, 0, 0.5])


def test_padding_is_never_read() -> None:
    torch.manual_seed(0)
    attention, state, words = WordAttention(4), torch.randn(2, 4), torch.randn(5, 4)
    told = EncodedText(words, torch.tensor([2, 3]), state, torch.ones(5).long())
    first, weights = attention(state, TextBatch.of(told))
    assert weights[0, 2] == 0
    assert weights[1].min() > 0
    alone, _ = attention(state[:1], TextBatch.of(told, torch.tensor([0])))
    assert torch.allclose(first[:1], alone)


def test_a_walk_is_remembered_alone_as_in_a_crowd() -> None:
    torch.manual_seed(0)
    encoder = TrajectoryEncoder(VIEW, ACTION, 8, dropout=0.0)
    both, one, actions = scene([0, 1, 0, 2]), scene([0, 1, 0]), torch.tensor([1, 1, 2, 0])
    together = encoder(both, both.taken(actions), torch.tensor([3, 1]))
    alone = encoder(one, one.taken(actions[:3]), torch.tensor([3]))
    assert together.shape == (2, 16)
    assert torch.allclose(together[:1], alone, atol=1e-6)


@pytest.fixture
def doubles() -> Iterator[None]:
    """Tensors that are made meanwhile are of double precision."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize("decoder", DECODERS)
def test_gradients_of_a_decision_are_right(decoder: str) -> None:
    network = model(decoder=decoder).network.double()
    readers = TextBatch.of(network.read(torch.tensor([[3, 4]]), torch.tensor([2])))
    inputs = (torch.randn(1, 8), torch.randn(1, 8), torch.randn(1, 24))
    here = scene([0], torch.float64)
    before = here.taken(torch.tensor([1]))

    def score(hidden: torch.Tensor, cell: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        return network(State(hidden, cell, before), here, readers, memory).logits

    assert torch.autograd.gradcheck(score, tuple(one.requires_grad_() for one in inputs))


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
    save_file({**tensors, name: torch.full((8, 8), torch.nan)}, file, metadata=header)
    with pytest.raises(DataError, match=r"'first_state\.weight' holds what is no number\. Take a model of"):
        load_model(file)
    for about, message in (
        ([], "the header is not a table"),
        ({"format": "babywalk model 1", "facts": {}}, "has no field 'policy'; expected a table"),
        ({"policy": {"hidden": "wide"}}, "hidden = 'wide' should be a whole number"),
        ({"policy": {"hiden": 8}}, "hiden is not known. Did you mean hidden?"),
        ({"facts": 3}, "field 'facts' is 3; expected a table"),
    ):
        whole = json.loads(header["babywalk"])
        spoiled = about if not isinstance(about, dict) or "format" in about else {**whole, **about}
        save_file(tensors, file, metadata={"babywalk": json.dumps(spoiled)})
        with pytest.raises(BabyWalkError, match=re.escape(message)):
            load_model(file)
    save_file(tensors, file)
    with pytest.raises(DataError, match="has the format None; expected 'babywalk model 1'"):
        load_model(file)
    file.write_bytes(b"\x80\x04pickle?")
    with pytest.raises(DataError, match="is not a safetensors file of BabyWalk"):
        load_model(file)
    with pytest.raises(DataError, match="file not found"):
        load_model(tmp_path / "none.safetensors")


def test_a_directory_without_a_model_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no model\. Give the directory of a run or of published"):
        load_model(tmp_path)
    (tmp_path / "config.json").touch()
    with pytest.raises(DataError, match=r"its first stage has not ended\. Go on with --resume\.$"):
        load_model(tmp_path)
    best = tmp_path / "best" / "imitation.safetensors"
    save_model(best, model())
    with pytest.raises(DataError, match=re.escape(f"Go on with --resume, or take {best}.")):
        load_model(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decoder": "coatend"}, r"decoder 'coatend' is not known\. Did you mean 'coattend'\?"),
        ({"steps": "words"}, r"steps 'words' is not known"),
        ({"hidden": 7}, r"hidden = 7 cannot be halved"),
        ({"hidden": 0}, r"hidden = 0 cannot work\. Give at least 1\."),
        ({"dropout": 1.0}, r"dropout = 1\.0 cannot work\. Give a share from 0 to below 1\."),
        ({"gamma": float("nan")}, r"gamma = nan cannot work\. Give 0 or more\."),
        ({"gamma": float("inf")}, r"gamma = inf cannot work"),
        ({"feature_gain": float("nan")}, r"feature_gain = nan cannot work\. Give more than 0\."),
    ],
)
def test_a_policy_that_cannot_be(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        PolicyConfig(**options)


def test_the_same_seed_gives_the_same_network() -> None:
    one, two = model().network.state_dict(), model().network.state_dict()
    assert all(np.array_equal(one[name], two[name]) for name in one)
