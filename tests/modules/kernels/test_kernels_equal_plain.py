"""The kernels against the plain layers: equal logits and gradients, for every kind of network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from square import square_batches, square_model, square_observer, square_task, with_large_weights
from torch import Tensor, nn

from babywalk.common.errors import ConfigError
from babywalk.decoding.rollout import Rollout, RolloutResult, Walkers
from babywalk.modules.config import CONTEXTS, DECODERS
from babywalk.modules.decoder import ActionScore, Decision
from babywalk.modules.kernels import KERNELS, choose_backend
from babywalk.modules.kernels.action_score import FastActionScore
from babywalk.modules.kernels.backend import Backend, KernelBackend
from babywalk.modules.kernels.deferred_gradients import FastLinear, FastLSTMCell, deferred_gradients
from babywalk.modules.kernels.dropout import FastDropout
from babywalk.modules.kernels.lazy_rows import SparseRows
from babywalk.modules.kernels.packed_lstm import FastPackedLSTM
from babywalk.modules.layers import Linear, LSTMCell, PackedLSTM
from babywalk.modules.memory import SUMMARIES
from babywalk.modules.network import Network
from babywalk.navigation.observation import Observer
from babywalk.navigation.world import Poses

CPU = torch.device("cpu")
TASK = square_task()
BATCHES = square_batches(TASK)
VARIANTS: dict[str, dict[str, Any]] = {
    "basic": {},
    "lexical match": {"lexical_match": 3},
    "lookahead": {"lookahead": True},
    "details of the release": {"details": "release"},
    "dropout of features and history": {"feature_dropout": 0.5, "history_dropout": 0.2},
    "all, mirrored": {
        "lexical_match": 3,
        "lookahead": True,
        "feature_dropout": 0.5,
        "history_dropout": 0.2,
        "mirrored": True,
    },
}


def prepared(variant: str, **options: Any) -> tuple[Network, Observer, bool]:
    """A network, what it sees, and whether its houses are mirrored."""
    chosen = {**VARIANTS[variant], **options}
    observer = square_observer(TASK, lookahead=chosen.pop("lookahead", False), dtype=torch.float64)
    mirrored = chosen.pop("mirrored", False)
    columns = ("x go", "x far north", "x east")
    network = square_model(observer, columns=columns, **chosen).network.double()
    return with_large_weights(network), observer, mirrored


def run(rollout: Rollout, *, mirrored: bool, copies: int = 2) -> RolloutResult:
    """Two copies of three walkers, with histories of different lengths, that take random actions.

    Copies take different paths and stop at different times; every run takes the same ones.
    """
    episodes, first, last = np.array([0, 1, 0]), np.array([1, 0, 0]), np.array([3, 1, 3])
    batch = BATCHES.batch(episodes, first, last, mirrored=mirrored)
    torch.manual_seed(0)  # for dropout
    generator = torch.Generator().manual_seed(7)

    def select(decision: Decision, walkers: Walkers) -> Tensor:
        possible = rollout.observe(walkers).possible.float()
        return torch.multinomial(possible, 1, generator=generator)[:, 0]

    return rollout.run(batch, select, copies=copies)


def check_equal(found: RolloutResult, expected: RolloutResult) -> None:
    assert len(found.records) > 6  # more than one move in some step
    assert len({len(record.walkers) for record in found.records}) > 2  # walkers stop at different times
    for one, two in zip(found.records, expected.records, strict=True):
        assert one.walkers.tolist() == two.walkers.tolist()
        assert one.actions.tolist() == two.actions.tolist()
        torch.testing.assert_close(one.decision.logits, two.decision.logits, rtol=1e-9, atol=1e-10)
        longest = two.decision.word_weights.shape[1]
        words = one.decision.word_weights[:, :longest]
        torch.testing.assert_close(words, two.decision.word_weights, rtol=1e-9, atol=1e-10)
        torch.testing.assert_close(
            one.decision.view_weights, two.decision.view_weights, rtol=1e-9, atol=1e-10
        )


def gradients(network: nn.Module, loss: Tensor) -> dict[str, Tensor]:
    """Of every parameter; zero where a parameter was not used."""
    network.zero_grad()
    loss.backward()
    return {
        name: torch.zeros_like(weight) if weight.grad is None else weight.grad
        for name, weight in network.named_parameters()
    }


def loss_of(result: RolloutResult) -> Tensor:
    """Depends on every logit, each with another factor."""
    logits = torch.cat([record.decision.logits for record in result.records])
    share = logits.log_softmax(dim=1).masked_fill(logits.isinf(), 0)
    return (share * torch.cos(torch.arange(share.numel())).view(share.shape)).sum()


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("memory", SUMMARIES)
@pytest.mark.parametrize("decoder", DECODERS)
def test_logits_and_gradients_of_a_rollout(decoder: str, memory: str, context: str, variant: str) -> None:
    network, observer, mirrored = prepared(variant, decoder=decoder, memory=memory, context=context)
    results, found = {}, {}
    for kernels in KERNELS:
        copy = deepcopy(network).train()
        rollout = Rollout(copy, observer, kernels=kernels)
        results[kernels] = run(rollout, mirrored=mirrored)
        found[kernels] = gradients(copy, loss_of(results[kernels]))
    check_equal(results["auto"], results["plain"])
    assert found["auto"].keys() == found["plain"].keys()
    for name, gradient in found["plain"].items():
        torch.testing.assert_close(
            found["auto"][name], gradient, rtol=1e-8, atol=1e-9, msg=lambda text, name=name: f"{name}: {text}"
        )
    used = {name for name, gradient in found["plain"].items() if gradient.abs().max() > 1e-9}
    unused = {
        "decoder.action_score.score.bias",
        "decoder.action_score.embed.bias",
        "lexical_match.words.weight",
    }
    assert found["plain"].keys() - used <= unused  # they are added to all logits, or frozen


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize(
    "variant", ["basic", "details of the release", "lexical match", "lookahead", "all, mirrored"]
)
@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("memory", SUMMARIES)
@pytest.mark.parametrize("decoder", DECODERS)
def test_logits_in_inference(decoder: str, memory: str, context: str, variant: str) -> None:
    """Twice: the second rollout finds its products in the cache."""
    network, observer, mirrored = prepared(variant, decoder=decoder, memory=memory, context=context)
    copies = {kernels: deepcopy(network) for kernels in KERNELS}
    with_gradients = run(Rollout(copies["plain"].eval(), observer, kernels="plain"), mirrored=mirrored)
    for kernels in KERNELS:
        rollout = Rollout(copies[kernels], observer, kernels=kernels)
        with rollout.inference():
            for _ in range(2):
                check_equal(run(rollout, mirrored=mirrored), with_gradients)


def fast(layer: nn.Module) -> nn.Module:
    """A copy of a layer, switched to its kernel."""
    copy = deepcopy(layer)
    KernelBackend().prepare(copy)
    return copy


Call = Callable[[nn.Module, Sequence[Tensor]], tuple[Tensor, ...]]


def check_layer(layer: nn.Module, call: Call, shapes: Sequence[tuple[int, ...]]) -> None:
    """Equal outputs, and equal gradients of inputs and weights, with immediate and deferred gradients."""
    torch.manual_seed(1)
    inputs = [torch.randn(shape, requires_grad=True) for shape in shapes]
    kernel = fast(layer)
    assert type(kernel) is not type(layer)
    expected = call(layer, inputs)
    d_outputs = [torch.randn_like(output) for output in expected]
    wanted = torch.autograd.grad(expected, [*inputs, *layer.parameters()], d_outputs)
    for deferred in (False, True):
        if deferred:
            with deferred_gradients(kernel):
                found = call(kernel, inputs)
        else:
            found = call(kernel, inputs)
        torch.testing.assert_close(found, expected)
        ours = torch.autograd.grad(found, [*inputs, *kernel.parameters()], d_outputs)
        torch.testing.assert_close(ours, wanted)
    with torch.no_grad():
        torch.testing.assert_close(call(kernel, inputs), expected)


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("bias", [True, False])
def test_linear(bias: bool) -> None:
    layer = Linear(7, 3, bias=bias)
    check_layer(layer, lambda layer, inputs: (layer(*inputs),), [(5, 4), (5, 1), (5, 2)])
    check_layer(layer, lambda layer, inputs: (layer(*inputs),), [(5, 7)])


@pytest.mark.usefixtures("float64")
def test_linear_transposed() -> None:
    """W^T v, whose dot product with x is that of v with W x."""
    layer = FastLinear(4, 3)
    x, v = torch.randn(6, 4), torch.randn(6, 3)
    expected = ((x @ layer.weight.T) * v).sum(dim=1)
    assert torch.allclose((layer.transposed(v) * x).sum(dim=1), expected)
    with deferred_gradients(layer):
        assert torch.allclose((layer.transposed(v) * x).sum(dim=1), expected)


@pytest.mark.usefixtures("float64")
def test_lstm_cell() -> None:
    layer = LSTMCell(5, 3)

    def call(layer: nn.Module, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        *parts, hidden, cell = inputs
        return layer(parts, hidden, cell)

    check_layer(layer, call, [(6, 2), (6, 3), (6, 3), (6, 3)])
    check_layer(layer, call, [(6, 5), (6, 3), (6, 3)])


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("places", [[], [4], [0, 1, 5], [3, 0], [0, 1, 2, 3, 4, 5]])
def test_lstm_cell_with_sparse_inputs(places: list[int]) -> None:
    """As with zeros where no row is given; all, some or none of the rows."""
    layer = LSTMCell(5, 3)
    rows = torch.tensor(places, dtype=torch.int64)

    def call(layer: nn.Module, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        given, dense, hidden, cell = inputs
        sparse = SparseRows(given, rows, 6)
        first = sparse if isinstance(layer, FastLSTMCell) else sparse.materialise()
        return layer((first, dense), hidden, cell)

    if places:
        check_layer(layer, call, [(len(places), 2), (6, 3), (6, 3), (6, 3)])
        return
    # Without rows there is no gradient of the given ones.
    inputs = [torch.randn(shape) for shape in ((0, 2), (6, 3), (6, 3), (6, 3))]
    torch.testing.assert_close(call(fast(layer), inputs), call(layer, inputs))


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("width", [2, 40])  # narrower and wider than the gates
def test_packed_lstm(reverse: bool, width: int) -> None:
    lengths = torch.tensor([2, 5, 1, 5, 3])
    layer = PackedLSTM(width, 4)
    check_layer(
        layer, lambda layer, inputs: layer(inputs[0], lengths, reverse=reverse), [(int(lengths.sum()), width)]
    )


@pytest.mark.usefixtures("float64")
def test_action_score() -> None:
    layer = ActionScore(4, 6, 5, 3, dropout=0.0)
    check_layer(layer, lambda layer, inputs: (layer(*inputs),), [(2, 4), (2, 6), (2, 7, 5)])


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("variant", ["basic", "lookahead"])
def test_action_score_of_an_observation(variant: str) -> None:
    """Candidates are scored without being materialised."""
    _, observer, _ = prepared(variant)
    poses = Poses(torch.tensor([2, 0, 2, 4, 3]), torch.tensor([12, 3, 35, 20, 13]))
    layer = ActionScore(4, 6, observer.candidate_width, 3, dropout=0.0)

    def call(layer: nn.Module, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        backend = KernelBackend() if isinstance(layer, FastActionScore) else Backend()
        return (layer(*inputs, backend.observe(observer, poses)),)

    check_layer(layer, call, [(5, 4), (5, 6)])


def test_switching_between_kernels_keeps_the_parameters() -> None:
    network, _, _ = prepared("all, mirrored")
    classes = [type(layer) for layer in network.modules()]
    weights = dict(network.named_parameters())
    choose_backend("auto", CPU).prepare(network)
    switched = {type(layer) for layer in network.modules()}
    assert {FastLinear, FastLSTMCell, FastPackedLSTM, FastActionScore, FastDropout} <= switched
    assert not {Linear, LSTMCell, PackedLSTM, ActionScore, nn.Dropout} & switched
    choose_backend("auto", CPU).prepare(network)  # again, without effect
    assert {type(layer) for layer in network.modules()} == switched
    assert all(weight is weights[name] for name, weight in network.named_parameters())
    choose_backend("plain", CPU).prepare(network)
    assert [type(layer) for layer in network.modules()] == classes
    assert list(dict(network.named_parameters())) == list(weights)


def test_kernels_are_chosen_by_name_and_device() -> None:
    assert type(choose_backend("auto", CPU)) is KernelBackend
    assert type(choose_backend("plain", CPU)) is Backend
    assert type(choose_backend("auto", torch.device("cuda"))) is Backend
    with pytest.raises(ConfigError, match=r"kernels 'plan' is not known\. Did you mean 'plain'\?"):
        choose_backend("plan", CPU)
