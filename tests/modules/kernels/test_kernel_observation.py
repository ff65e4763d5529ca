"""`KernelObservation` against `Observation`, which materialises views and candidates."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from builders import connectivity

from babywalk.buildings.houses import Houses
from babywalk.modules.kernels import panorama
from babywalk.modules.kernels.dropout import FastDropout
from babywalk.modules.kernels.lazy_rows import ProductCache, SparseRows
from babywalk.modules.kernels.observation import KernelObservation
from babywalk.modules.kernels.panorama import TableRows, WalkersByViewpoint
from babywalk.modules.observation import Observation
from babywalk.navigation.observation import Observer
from babywalk.navigation.world import Poses, World

WIDTH = 3
ACTIONS = torch.tensor([1, 0, 3, 1, 0, 2, 1])  # 0 is STOP


@pytest.fixture(params=["plain", "lookahead", "channels", "lookahead and channels", "mirrored", "blind"])
def observation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> KernelObservation:
    """Walkers at the middle and the tips of a star, some at the same viewpoint; two viewpoints per chunk."""
    monkeypatch.setattr(panorama, "_CHUNK", 36 * WIDTH * 2)
    width = 0 if request.param == "blind" else WIDTH
    star = connectivity(
        "h", [(0, 0, 0), (2, 0, 1), (0, 2, 0), (-2, 0, 0), (4, 0, 1)], [(0, 1), (0, 2), (0, 3), (1, 4)]
    )
    random = np.random.default_rng(0)
    world = World.of(Houses.of([star]))
    panoramas = random.random((5, WIDTH)).astype(np.float16) if "lookahead" in request.param else None
    observer = Observer.over(world, random.random((5, 36, width)).astype(np.float16), panoramas).to("cpu")
    if request.param == "mirrored":
        observer = observer.mirrored()
    poses = Poses(torch.tensor([1, 0, 0, 4, 3, 0, 2]), torch.tensor([12, 3, 35, 20, 13, 3, 7]))
    channels = torch.rand(7, WIDTH) if "channels" in request.param else None
    return KernelObservation(observer, poses, channels)


def plain(observation: KernelObservation) -> Observation:
    return Observation(observation.observer, observation.poses, observation.channels)


def doubled(observation: KernelObservation) -> KernelObservation:
    channels = None if observation.channels is None else observation.channels.double()
    return KernelObservation(observation.observer, observation.poses, channels)


def cached(observation: KernelObservation, cache: ProductCache) -> KernelObservation:
    return KernelObservation(observation.observer, observation.poses, cache=cache)


def test_the_plain_observation_is_also_correct(observation: KernelObservation) -> None:
    """The features of views and candidates are multiplied by the channels; orientations are not."""
    observer, poses, channels = observation.observer, observation.poses, observation.channels
    views, candidates = observer.views(poses), observer.candidates(poses)
    if channels is not None:
        views[..., :WIDTH] *= channels[:, None]
        candidates[..., :WIDTH] *= channels[:, None]
    assert torch.equal(plain(observation).views(), views)
    assert torch.equal(plain(observation).candidates(), candidates)
    assert torch.equal(plain(observation).chosen(ACTIONS), candidates[torch.arange(7), ACTIONS])
    assert torch.equal(plain(observation).possible, observer.world.possible[poses.viewpoint])
    assert len(plain(observation)) == len(observation) == 7


def test_attention_equals_attention_over_materialised_views(observation: KernelObservation) -> None:
    torch.manual_seed(0)
    query = torch.randn(7, observation.observer.view_width, dtype=torch.float64, requires_grad=True)
    views = plain(observation).views().double()
    expected_weights = torch.einsum("bsf,bf->bs", views, query).softmax(dim=1)
    expected = torch.einsum("bsf,bs->bf", views, expected_weights)
    lazy, weights = doubled(observation).attend(query)
    attended = lazy.materialise()
    assert torch.allclose(weights, expected_weights, atol=1e-6)
    assert torch.allclose(attended, expected, atol=1e-6)
    by_plain = plain(observation).attend(query.detach().float())
    assert torch.allclose(by_plain[0].double(), expected, atol=1e-5)
    assert torch.allclose(by_plain[1].double(), expected_weights, atol=1e-5)
    d_attended, d_weights = torch.randn_like(attended), torch.randn_like(weights)
    for factor in (1, 0):
        ours = (attended * d_attended * factor).sum() + (weights * d_weights).sum()
        theirs = (expected * d_attended * factor).sum() + (expected_weights * d_weights).sum()
        found, wanted = (torch.autograd.grad(loss, query, retain_graph=True)[0] for loss in (ours, theirs))
        assert torch.allclose(found, wanted, atol=1e-6)
    (found,) = torch.autograd.grad((weights * d_weights).sum(), query)
    assert torch.allclose(found, wanted, atol=1e-6)


def test_candidate_scores_equal_products_with_materialised_candidates(
    observation: KernelObservation,
) -> None:
    torch.manual_seed(0)
    wanted = torch.randn(7, observation.observer.candidate_width, dtype=torch.float64, requires_grad=True)
    found = doubled(observation).score_candidates(wanted)
    expected = torch.einsum("bka,ba->bk", plain(observation).candidates().double(), wanted)
    assert torch.allclose(found, expected, atol=1e-6)
    d_scores = torch.randn_like(found)
    gradients = [torch.autograd.grad((one * d_scores).sum(), wanted)[0] for one in (found, expected)]
    assert torch.allclose(*gradients, atol=1e-6)


@pytest.mark.parametrize("method", ["match_views", "match_candidates"])
def test_feature_matches_equal_the_plain_ones(observation: KernelObservation, method: str) -> None:
    torch.manual_seed(0)
    features = torch.randn(7, observation.feature_size, requires_grad=True)
    found, expected = (getattr(one, method)(features) for one in (observation, plain(observation)))
    assert torch.allclose(found, expected, atol=1e-5)
    d_found = torch.randn_like(found)
    gradients = [torch.autograd.grad((one * d_found).sum(), features)[0] for one in (found, expected)]
    assert torch.allclose(*gradients, atol=1e-5)


def test_chosen_actions_are_rows_of_the_candidates(observation: KernelObservation) -> None:
    rows = plain(observation).candidates()[torch.arange(7), ACTIONS]
    assert torch.equal(observation.chosen(ACTIONS).materialise(), rows)
    repeated = torch.tensor([1, 4, 2, 2])  # STOP, STOP, and a move twice
    assert torch.equal(observation.chosen(ACTIONS)[repeated].materialise(), rows[repeated])
    assert not rows[[1, 4]].any()


def test_products_of_chosen_actions_are_cached(observation: KernelObservation) -> None:
    """Also if some of them were computed before, and for two weights."""
    torch.manual_seed(0)
    width = observation.observer.candidate_width
    weights = torch.randn(4, width), torch.randn(5, width)
    cache, dropout = ProductCache(), FastDropout(0.5)
    for actions in (ACTIONS, torch.tensor([2, 1, 3, 0, 1, 3, 1])):
        chosen = observation.chosen(actions)
        assert chosen.shape == chosen.materialise().shape
        for weight in weights:
            expected = chosen.materialise() @ weight.t()
            assert torch.allclose(chosen.multiply(weight), expected, atol=1e-5)
        dropped = dropout(chosen)
        assert isinstance(dropped, SparseRows)
        assert dropped.places.tolist() == actions.nonzero()[:, 0].tolist()
        assert isinstance(dropped.given, torch.Tensor)
        if observation.channels is not None:  # only in training, where no cache is used
            continue
        lazy = cached(observation, cache).chosen(actions)
        assert lazy.shape == chosen.shape
        for weight in weights:
            assert torch.allclose(lazy.multiply(weight), chosen.materialise() @ weight.t(), atol=1e-5)
        kept = dropout(lazy)
        assert not isinstance(kept.given, torch.Tensor)  # a cache is used only where there is no dropout
        assert torch.equal(kept.materialise(), chosen.materialise())
        assert torch.allclose(kept.multiply(weight), chosen.materialise() @ weight.t(), atol=1e-5)


def test_products_of_attended_views(observation: KernelObservation) -> None:
    """Without tiled orientations, and without gradients also without materialised views."""
    torch.manual_seed(0)
    width = observation.observer.view_width
    query, weight = torch.randn(7, width), torch.randn(4, width)
    attended, _ = observation.attend(query)
    assert attended.shape == attended.materialise().shape
    assert torch.allclose(attended.multiply(weight), attended.materialise() @ weight.t(), atol=1e-4)
    assert isinstance(FastDropout(0.5)(attended), torch.Tensor)
    if observation.channels is None:
        lazy, _ = cached(observation, ProductCache()).attend(query)
        assert FastDropout(0.5)(lazy) is lazy


def test_walkers_are_grouped_by_viewpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panorama, "_CHUNK", 6)
    found = WalkersByViewpoint.of(torch.tensor([5, 3, 5, 9, 3, 5]))
    assert found.viewpoints.tolist() == [5, 3, 9]
    assert found.sizes.tolist() == [3, 2, 1]
    assert found.group.tolist() == [0, 1, 0, 2, 1, 0]
    assert found.rank.tolist() == [0, 0, 1, 0, 1, 2]
    slots = found.slots(3)
    assert slots.chunk == 2
    assert slots.sizes == [3, 1]  # for the viewpoints 5 and 3 of the first chunk, and for 9
    assert slots.slot.tolist() == [0, 3, 1, 6, 4, 2]
    assert slots.walker[slots.slot].tolist() == [0, 1, 2, 3, 4, 5]
    values = torch.arange(6.0)[:, None]
    assert torch.equal(slots.gather(slots.scatter(values)), values)
    table = torch.eye(4).half()
    rows = torch.tensor([0, 3, 2])
    for shown in (TableRows(table, rows[:, None]), TableRows(table[:, None], rows)):
        assert shown.shape == (3, 1, 4)
        chunks = slots.chunks(shown, slots.scatter(values))
        first, walkers = next(chunks)
        assert first.dtype == values.dtype
        assert first.tolist() == [[[1, 0, 0, 0]], [[0, 0, 0, 1]]]
        assert walkers[0].flatten().tolist() == [0, 2, 5]
        assert walkers[1].flatten().tolist()[:2] == [1, 4]
        second, walkers = next(chunks)  # in the same memory as the first
        assert second.tolist() == [[[0, 0, 1, 0]]]
        assert walkers.flatten().tolist() == [3]
        assert not list(chunks)
