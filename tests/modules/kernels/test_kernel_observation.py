"""Scenes against the same views and candidates laid out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from builders import connectivity

from babywalk.buildings.houses import Houses
from babywalk.modules.kernels import observation as scenes
from babywalk.modules.kernels.dropout import Dropout
from babywalk.modules.kernels.observation import Observation, Shown, WalkersByViewpoint
from babywalk.modules.kernels.product_cache import ProductCache
from babywalk.navigation.observation import Observer
from babywalk.navigation.world import Poses, World

WIDTH = 3


@pytest.fixture(params=["plain", "ahead", "channels", "blind"])
def scene(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Observation:
    """Walkers at a star's middle and tips, some of them at the same place; laid out two places at a time."""
    monkeypatch.setattr(scenes, "_AT_A_TIME", 36 * WIDTH * 2)
    width = 0 if request.param == "blind" else WIDTH
    star = connectivity(
        "h", [(0, 0, 0), (2, 0, 1), (0, 2, 0), (-2, 0, 0), (4, 0, 1)], [(0, 1), (0, 2), (0, 3), (1, 4)]
    )
    random = np.random.default_rng(0)
    world = World.of(Houses.of([star]))
    ahead = random.random((5, WIDTH)).astype(np.float16) if request.param == "ahead" else None
    observer = Observer.over(world, random.random((5, 36, width)).astype(np.float16), ahead).to("cpu")
    poses = Poses(torch.tensor([1, 0, 0, 4, 3, 0, 2]), torch.tensor([12, 3, 35, 20, 13, 3, 7]))
    channels = torch.rand(7, WIDTH) if request.param == "channels" else None
    return Observation(observer, poses, channels)


def laid_out(scene: Observation) -> torch.Tensor:
    views = scene.observer.views(scene.poses)
    if scene.channels is not None:
        views[..., :WIDTH] *= scene.channels[:, None]
    return views.double()


def doubled(scene: Observation) -> Observation:
    return Observation(
        scene.observer, scene.poses, None if scene.channels is None else scene.channels.double()
    )


def test_looking_as_at_views_laid_out(scene: Observation) -> None:
    torch.manual_seed(0)
    query = torch.randn(7, scene.observer.view_width, dtype=torch.float64, requires_grad=True)
    views = laid_out(scene)
    expected_weights = torch.einsum("bsf,bf->bs", views, query).softmax(dim=1)
    expected = torch.einsum("bsf,bs->bf", views, expected_weights)
    found, weights = doubled(scene).look(query)
    seen = found.numbers()
    assert torch.allclose(weights, expected_weights, atol=1e-6)
    assert torch.allclose(seen, expected, atol=1e-6)
    mix, stress = torch.randn_like(seen), torch.randn_like(weights)
    for of_seen in (1, 0):
        ours = (seen * mix * of_seen).sum() + (weights * stress).sum()
        theirs = (expected * mix * of_seen).sum() + (expected_weights * stress).sum()
        found, wanted = (torch.autograd.grad(loss, query, retain_graph=True)[0] for loss in (ours, theirs))
        assert torch.allclose(found, wanted, atol=1e-6)
    (found,) = torch.autograd.grad((weights * stress).sum(), query)
    assert torch.allclose(found, wanted, atol=1e-6)


def test_comparing_as_with_candidates_laid_out(scene: Observation) -> None:
    torch.manual_seed(0)
    wanted = torch.randn(7, scene.observer.candidate_width, dtype=torch.float64, requires_grad=True)
    found = doubled(scene).compare(wanted)
    expected = torch.einsum("bka,ba->bk", scene.candidates().double(), wanted)
    assert torch.allclose(found, expected, atol=1e-6)
    mix = torch.randn_like(found)
    gradients = [torch.autograd.grad((one * mix).sum(), wanted)[0] for one in (found, expected)]
    assert torch.allclose(*gradients, atol=1e-6)


def test_what_was_taken_is_one_of_the_candidates(scene: Observation) -> None:
    actions = torch.tensor([1, 0, 3, 1, 0, 2, 1])
    assert torch.equal(scene.taken(actions).numbers(), scene.candidates()[torch.arange(7), actions])
    assert not scene.taken(actions)[torch.tensor([1, 4])].numbers().any()  # STOP


def test_products_of_what_was_taken_are_kept(scene: Observation) -> None:
    """Also when some of them were made before, and for two weights side by side."""
    if scene.channels is not None:  # which are of walks that learn
        return
    torch.manual_seed(0)
    weights = torch.randn(4, scene.observer.candidate_width), torch.randn(5, scene.observer.candidate_width)
    album = ProductCache()
    for actions in (torch.tensor([1, 0, 3, 1, 0, 2, 1]), torch.tensor([2, 1, 3, 0, 1, 3, 1])):
        taken = Observation(scene.observer, scene.poses, album=album).taken(actions)
        plain = scene.taken(actions)
        assert taken.shape == plain.numbers().shape
        for weight in weights:
            assert torch.allclose(taken.through(weight), plain.numbers() @ weight.t(), atol=1e-5)
            assert torch.allclose(plain.through(weight), plain.numbers() @ weight.t(), atol=1e-5)
        assert taken.dropped(Dropout(0.5)) is taken
        assert isinstance(plain.dropped(Dropout(0.5)), torch.Tensor)


def test_products_of_what_was_seen(scene: Observation) -> None:
    """Without tiling what lies around, and, where nothing is learned, without laying it out."""
    torch.manual_seed(0)
    query, weight = torch.randn(7, scene.observer.view_width), torch.randn(4, scene.observer.view_width)
    seen, _ = scene.look(query)
    assert seen.shape == seen.numbers().shape
    assert torch.allclose(seen.through(weight), seen.numbers() @ weight.t(), atol=1e-4)
    assert isinstance(seen.dropped(Dropout(0.5)), torch.Tensor)
    if scene.channels is None:
        kept, _ = Observation(scene.observer, scene.poses, album=ProductCache()).look(query)
        assert kept.dropped(Dropout(0.5)) is kept


def test_who_stands_with_whom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenes, "_AT_A_TIME", 6)
    found = WalkersByViewpoint.of(torch.tensor([5, 3, 5, 9, 3, 5]))
    assert found.viewpoints.tolist() == [5, 3, 9]
    assert found.crowd.tolist() == [3, 2, 1]
    slots = found.slots(3)
    assert slots.crowds == [3, 1]  # at 5 and 3, which are looked at together, and at 9
    assert slots.own.tolist() == [0, 3, 1, 6, 4, 2]
    assert slots.who[slots.own].tolist() == [0, 1, 2, 3, 4, 5]
    values = torch.arange(6.0)[:, None]
    assert torch.equal(slots.collected(slots.spread(values)), values)
    table = torch.eye(4).half()
    rows = torch.tensor([0, 3, 2])
    for shown in (Shown(table, rows[:, None]), Shown(table[:, None], rows)):
        assert shown.shape == (3, 1, 4)
        parts = slots.laid_out(shown, slots.spread(values))
        two, them = next(parts)
        assert two.dtype == values.dtype
        assert two.tolist() == [[[1, 0, 0, 0]], [[0, 0, 0, 1]]]
        one, him = next(parts)  # in the place of the others
        assert one.tolist() == [[[0, 0, 1, 0]]]
        assert them[0].flatten().tolist() == [0, 2, 5]
        assert them[1].flatten().tolist()[:2] == [1, 4]
        assert him.flatten().tolist() == [3]
