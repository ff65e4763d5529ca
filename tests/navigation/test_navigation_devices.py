"""Every tensor of the environment is made on the device of its inputs.

They need no GPU: torch is made to refuse factory calls without a device, and the "meta" device, which has
no values, stands for another device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from builders import connectivity

from babywalk.buildings.houses import Houses
from babywalk.navigation.observation import Observer
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.trajectories import TrajectoryRecorder
from babywalk.navigation.world import Poses, World, angles

torch = pytest.importorskip("torch")

from torch.overrides import TorchFunctionMode  # noqa: E402

FACTORIES = {
    getattr(torch, name)
    for name in ("arange", "as_tensor", "empty", "eye", "from_numpy", "full", "linspace", "ones", "rand")
} | {getattr(torch, name) for name in ("randint", "randn", "randperm", "tensor", "zeros")}


class RequireDevice(TorchFunctionMode):
    """Refuses to make a tensor without a device."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func in FACTORIES and "device" not in (kwargs or {}):
            raise AssertionError(f"{func.__name__} without a device")
        return func(*args, **(kwargs or {}))


@pytest.fixture
def require_device() -> Iterator[None]:
    with RequireDevice():
        yield


@pytest.fixture
def observer() -> Observer:
    house = connectivity("h", [(0, 0, 0), (2, 0, 0), (0, 2, 0)], [(0, 1), (0, 2)])
    views = np.random.default_rng(0).random((3, 36, 2), dtype=np.float32)
    views.flags.writeable = False  # as memory-mapped features are
    return Observer.over(World.of(Houses.of([house])), views, panoramas=views.mean(axis=1))


@pytest.fixture
def teacher() -> Teacher:
    return Teacher.of(Houses.of([connectivity("h", [(0, 0, 0), (2, 0, 0), (0, 2, 0)], [(0, 1), (0, 2)])]))


START = Poses(np.array([0, 1, 2]), np.array([12, 15, 3]))


def test_the_check_finds_a_tensor_without_a_device(require_device: None) -> None:
    with pytest.raises(AssertionError, match="zeros without a device"):
        torch.zeros(3)
    assert torch.zeros(3, device="cpu").tolist() == [0, 0, 0]


@pytest.mark.usefixtures("require_device")
def test_no_tensor_is_made_without_a_device(observer: Observer, teacher: Teacher) -> None:
    there, expert, poses = observer.to("cpu").to("cpu"), teacher.to("cpu").to("cpu"), START.to("cpu")
    actions = torch.tensor([1, 1, 0], device="cpu")
    paths, lengths = torch.tensor([[0, 1], [1, 0], [2, 0]], device="cpu"), actions * 0 + 2
    seen = there.mirrored().scaled(2.0)
    assert seen.views(poses).shape == (3, 36, 130)
    assert seen.candidates(poses).shape == (3, 3, 132)
    assert seen.chosen(poses, actions).shape == (3, 132)
    assert expert.towards(poses.viewpoint, torch.tensor([1, 0, 2], device="cpu")).tolist() == [1, 1, 0]
    assert expert.along(poses.viewpoint, paths, lengths, lengths * 0)[0].tolist() == [1, 1, 1]
    recorder = TrajectoryRecorder(poses, capacity=1)
    recorder.record(there.world.step(poses, actions), actions > 0)
    assert recorder.trajectories().viewpoints.lengths.tolist() == [2, 2, 1]
    assert np.degrees(angles(poses.view)[0]) == pytest.approx([0, 90, 90])


def test_everything_is_on_the_device_of_the_poses(observer: Observer, teacher: Teacher) -> None:
    there, expert, poses = observer.to("meta"), teacher.to("meta"), START.to("meta")
    actions = torch.ones(3, dtype=torch.int64, device="meta")
    after = there.world.step(poses, actions)
    made = {
        "viewpoint": after.viewpoint,
        "view": after.view,
        "directions": there.world.directions(poses),
        "mirrored": there.mirrored().world.turn,
        "views": there.views(poses),
        "towards": expert.towards(poses.viewpoint, actions),
        "along": expert.along(poses.viewpoint, actions[:, None], actions, actions * 0)[0],
    }
    assert {name: str(tensor.device) for name, tensor in made.items()} == dict.fromkeys(made, "meta")
