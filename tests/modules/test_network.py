from __future__ import annotations

import json
import re
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
from babywalk.modules.kernels import KERNELS, choose_backend
from babywalk.modules.memory import SUMMARIES
from babywalk.modules.model import Model, load_model, new_model, save_model
from babywalk.modules.network import Network
from babywalk.modules.text_encoder import EncodedText, TextBatch, TextEncoder
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


def observer(dtype: torch.dtype = torch.float32) -> Observer:
    """0 in the middle, with 1 east and 2 north of it; three actions at most."""
    houses = Houses.of([connectivity("h", [(0, 0, 0), (2, 0, 0), (0, 2, 0)], [(0, 1), (0, 2)])])
    views = np.random.default_rng(0).random((3, 36, WIDTH), dtype=np.float32)
    made = Observer.over(World.of(houses), views).to("cpu")
    return replace(made, orientation_table=made.orientation_table.to(dtype))


def poses(viewpoints: list[int]) -> Poses:
    at = torch.tensor(viewpoints)
    return Poses(at, 12 + torch.arange(len(at)))


def decide(network: Network, kernels: str, walkers: int = 3) -> torch.Tensor:
    """The first decision of walkers that share no instruction and no viewpoint."""
    backend = choose_backend(kernels, torch.device("cpu"))
    backend.prepare(network)
    tokens = torch.tensor([[3, 4, 0], [5, 4, 3], [3, 0, 0]])[:walkers]
    text = backend.texts(
        network.encode_text(tokens, torch.tensor([2, 3, 1])[:walkers]), torch.arange(walkers)
    )
    observation = backend.observe(observer(), poses([1, 0, 2][:walkers]))
    memory = network.memory.empty(walkers, like=network.first_hidden.weight)
    state = network.initial_state(text, observation)
    return network(state, observation, text, network.context(memory)).logits


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("memory", SUMMARIES)
@pytest.mark.parametrize("kernels", KERNELS)
def test_only_possible_actions_have_finite_logits_and_all_parameters_in_use_have_gradients(
    decoder: str, memory: str, kernels: str
) -> None:
    network = model(decoder=decoder, memory=memory).network
    logits = decide(network, kernels)
    assert torch.isinf(logits).tolist() == [[False, False, True], [False] * 3, [False, False, True]]
    logits[:, :2].square().sum().backward()
    idle = {name for name, weight in network.named_parameters() if weight.grad is None}
    # There is no history here, and no previous action.
    assert all(name.startswith(("trajectory", "memory", "decoder.previous.weight")) for name in idle)


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("kernels", KERNELS)
def test_logits_do_not_depend_on_the_rest_of_the_batch(decoder: str, kernels: str) -> None:
    network = model(decoder=decoder).network.eval()
    with torch.no_grad():
        assert torch.allclose(decide(network, kernels, 3)[:1], decide(network, kernels, 1), atol=1e-6)


def test_text_encoder_ignores_padding_and_keeps_the_order_of_words() -> None:
    torch.manual_seed(0)
    encoder = TextEncoder(torch.randn(6, 4), 5, dropout=0.0, frozen=True)
    one = encoder(torch.tensor([[3, 4]]), torch.tensor([2]))
    alone = TextBatch.of(one, torch.tensor([0]))
    both = encoder(torch.tensor([[3, 4, 0, 0], [5, 5, 5, 5]]), torch.tensor([2, 4]))
    padded = TextBatch.of(both, torch.tensor([0, 1]))
    assert torch.allclose(padded.words[0, :2], alone.words[0], atol=1e-6)
    assert torch.allclose(both.summary[0], one.summary[0], atol=1e-6)
    assert padded.tokens.tolist() == [[3, 4, 0, 0], [5, 5, 5, 5]]
    assert not padded.words[0, 2:].any()
    # No longer than needed.
    assert torch.equal(TextBatch.of(both, torch.tensor([0])).words, padded.words[:1, :2])
    repeated = TextBatch.of(both, torch.tensor([1, 0, 1]))
    assert torch.equal(repeated.words, padded.words[[1, 0, 1]])
    assert torch.equal(padded[torch.tensor([1, 0, 1])].words, repeated.words)
    # The text is read backwards, so the last state is that of the first word.
    assert torch.allclose(alone.words[0, 0], one.summary[0], atol=1e-6)


def test_only_word_vectors_that_are_not_frozen_have_gradients() -> None:
    for frozen in (True, False):
        encoder = TextEncoder(torch.randn(6, 4), 5, dropout=0.0, frozen=frozen)
        encoder(torch.tensor([[3]]), torch.tensor([1])).summary.sum().backward()
        assert (encoder.embedding.weight.grad is None) == frozen


def test_view_attention_selects_the_view_that_matches_the_query() -> None:
    attention = ViewAttention(2, 3)
    with torch.no_grad():
        attention.query.weight.copy_(torch.tensor([[50.0, 0], [0, 50.0], [0, 0]]))
    views, hidden = torch.eye(3)[None], torch.tensor([[0.0, 1.0]])
    attended, weights = attention.over(hidden, views, torch.ones(1, 3, dtype=torch.bool))
    assert weights[0].tolist() == pytest.approx([0, 1, 0], abs=1e-6)
    assert attended[0].tolist() == pytest.approx([0, 1, 0], abs=1e-6)
    _, weights = attention.over(hidden, views, torch.tensor([[True, False, True]]))
    assert weights[0].tolist() == pytest.approx([0.5, 0, 0.5])


@pytest.mark.parametrize("kernels", KERNELS)
def test_word_attention_ignores_padding(kernels: str) -> None:
    torch.manual_seed(0)
    backend = choose_backend(kernels, torch.device("cpu"))
    attention, state, words = WordAttention(4), torch.randn(2, 4), torch.randn(5, 4)
    encoded = EncodedText(words, torch.tensor([2, 3]), state, torch.ones(5).long(), state)
    both, weights = attention(state, backend.texts(encoded, torch.arange(2)))
    assert weights[0, 2] == 0
    assert weights[1].min() > 0
    alone, _ = attention(state[:1], backend.texts(encoded, torch.tensor([0])))
    assert torch.allclose(both[:1], alone)


@pytest.mark.parametrize("kernels", KERNELS)
def test_encoding_of_a_trajectory_does_not_depend_on_the_rest_of_the_batch(kernels: str) -> None:
    torch.manual_seed(0)
    backend = choose_backend(kernels, torch.device("cpu"))
    encoder = TrajectoryEncoder(VIEW, ACTION, 8, dropout=0.0)
    backend.prepare(encoder)
    both, one = (backend.observe(observer(), poses(at)) for at in ([0, 1, 0, 2], [0, 1, 0]))
    actions = torch.tensor([1, 1, 2, 0])
    states, together = encoder(both, both.chosen(actions), torch.tensor([3, 1]))
    states_alone, alone = encoder(one, one.chosen(actions[:3]), torch.tensor([3]))
    assert states.shape == (4, 8)
    assert together.shape == (2, 16)
    assert torch.allclose(together[:1], alone, atol=1e-6)
    assert torch.allclose(states[:3], states_alone, atol=1e-6)


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("kernels", KERNELS)
def test_gradients_of_a_decision_are_correct(decoder: str, kernels: str) -> None:
    network = model(decoder=decoder).network.double()
    backend = choose_backend(kernels, torch.device("cpu"))
    backend.prepare(network)
    encoded = network.encode_text(torch.tensor([[3, 4]]), torch.tensor([2]))
    text = backend.texts(encoded, torch.tensor([0]))
    inputs = (torch.randn(1, 8), torch.randn(1, 8), torch.randn(1, 24))
    observation = backend.observe(observer(torch.float64), poses([0]))
    previous = observation.chosen(torch.tensor([1]))

    def logits(hidden: torch.Tensor, cell: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        return network(
            network.decoder.initial_state(State(hidden, cell, previous)), observation, text, context
        ).logits

    assert torch.autograd.gradcheck(logits, tuple(one.requires_grad_() for one in inputs))


def test_a_saved_model_loads_with_identical_weights(tmp_path: Path) -> None:
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
        full = json.loads(opened.metadata()["babywalk"])
    assert full.pop("sha256")
    header = {"babywalk": json.dumps(full)}
    name = "first_hidden.weight"
    less = {key: value for key, value in tensors.items() if key != name}
    save_file({**less, "more": torch.zeros(1)}, file, metadata=header)
    with pytest.raises(DataError, match=r"weights missing: first_hidden\.weight; left over: more"):
        load_model(file)
    save_file(
        {**tensors, name: torch.ones(8, 8)}, file, metadata={"babywalk": json.dumps(full | {"sha256": "0"})}
    )
    with pytest.raises(DataError, match="is damaged: it does not match its own SHA-256"):
        load_model(file)
    save_file({**tensors, name: torch.zeros(2, 2)}, file, metadata=header)
    with pytest.raises(DataError, match=r"'first_hidden\.weight' has the shape \(2, 2\); expected \(8, 8\)"):
        load_model(file)
    save_file({**tensors, name: torch.full((8, 8), torch.nan)}, file, metadata=header)
    with pytest.raises(DataError, match=r"'first_hidden\.weight' contains NaN or infinity\. Use a model"):
        load_model(file)
    for about, message in (
        ([], "the header is not a table"),
        ({"format": "babywalk model 2", "facts": {}}, "has no field 'policy'; expected a table"),
        ({"policy": {"hidden": "wide"}}, "hidden = 'wide' should be a whole number"),
        ({"policy": {"hiden": 8}}, "hiden is not known. Did you mean hidden?"),
        ({"facts": 3}, "field 'facts' is 3; expected a table"),
    ):
        changed = about if not isinstance(about, dict) or "format" in about else {**full, **about}
        save_file(tensors, file, metadata={"babywalk": json.dumps(changed)})
        with pytest.raises(BabyWalkError, match=re.escape(message)):
            load_model(file)
    save_file(tensors, file)
    with pytest.raises(DataError, match="has the format None; expected 'babywalk model 2'"):
        load_model(file)
    file.write_bytes(b"\x80\x04pickle?")
    with pytest.raises(DataError, match="is not a safetensors file of BabyWalk"):
        load_model(file)
    with pytest.raises(DataError, match="file not found"):
        load_model(tmp_path / "none.safetensors")


def test_the_message_for_a_directory_without_a_model_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"contains no model\. Give a run directory or a folder of published"):
        load_model(tmp_path)
    (tmp_path / "config.json").touch()
    with pytest.raises(DataError, match=r"its first stage has not finished\. Continue with --resume\.$"):
        load_model(tmp_path)
    best = tmp_path / "best" / "imitation.safetensors"
    save_model(best, model())
    with pytest.raises(DataError, match=re.escape(f"Continue with --resume, or use {best}.")):
        load_model(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decoder": "coatend"}, r"decoder 'coatend' is not known\. Did you mean 'coattend'\?"),
        ({"steps": "words"}, r"steps 'words' is not known"),
        ({"hidden": 7}, r"hidden = 7 cannot be halved"),
        ({"hidden": 0}, r"hidden = 0 is out of range\. Give at least 1\."),
        ({"dropout": 1.0}, r"dropout = 1\.0 is out of range\. Give a fraction from 0 to below 1\."),
        ({"gamma": float("nan")}, r"gamma = nan is out of range\. Give 0 or more\."),
        ({"gamma": float("inf")}, r"gamma = inf is out of range"),
        ({"feature_gain": float("nan")}, r"feature_gain = nan is out of range\. Give more than 0\."),
    ],
)
def test_invalid_settings_are_rejected(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        PolicyConfig(**options)


def test_the_same_seed_gives_the_same_network() -> None:
    one, two = model().network.state_dict(), model().network.state_dict()
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_details_of_the_release() -> None:
    """The encoder's last cell starts the decoder, attention compares projections of the views, summaries have
    linear layers, and there is no dropout inside the action MLP."""
    network = model(details="release", dropout=0.5).network
    backend = choose_backend("plain", torch.device("cpu"))
    encoded = network.eval().encode_text(torch.tensor([[3, 4]]), torch.tensor([2]))
    text, seen = backend.texts(encoded, torch.arange(1)), backend.observe(observer(), poses([0]))
    state = network.initial_state(text, seen)
    assert torch.equal(state.cell, text.cell)
    assert text.cell.any()
    assert model().network.initial_state(text, seen).cell.eq(0).all()
    attention = network.decoder.view_attention
    assert attention.query.bias.shape == (256,)
    hidden, views = torch.randn(1, 8), torch.randn(1, 5, VIEW)
    projected = attention.view_projection(views)[0] @ attention.query(hidden)[0]
    _, weights = attention.over(hidden, views, torch.ones(1, 5, dtype=torch.bool))
    assert torch.allclose(weights[0], projected.softmax(dim=0), atol=1e-6)
    assert network.memory.layers is not None
    assert not network.memory.read(network.memory.empty(1, like=hidden)).any()
    assert network.decoder.action_score.dropout.p == 0
    assert network.decoder.dropout.p == 0.5
