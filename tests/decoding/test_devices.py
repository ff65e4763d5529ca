"""No tensor is made without a device: over training iterations, evaluation, and saving and loading a model.

This needs no GPU: torch refuses factory calls without a device from code of the package. Functions such as
`new_zeros` and `zeros_like` follow the device of a tensor.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
import torch
from square import square_batches, square_model, square_observer, square_task
from torch.overrides import TorchFunctionMode

import babywalk
from babywalk.agents.learned import walk_episodes
from babywalk.decoding.decoders import Greedy
from babywalk.decoding.rollout import Rollout
from babywalk.modules import observation
from babywalk.modules.config import CONTEXTS, DECODERS
from babywalk.modules.kernels import KERNELS
from babywalk.modules.memory import SUMMARIES
from babywalk.modules.model import Model, load_compatible, load_mean, load_model, save_model
from babywalk.navigation.teacher import Teacher
from babywalk.training.config import ImitationConfig, ReinforceConfig, TrainingConfig
from babywalk.training.imitation import imitation_stages
from babywalk.training.optimisation import WeightAverage, gradient_step, new_optimiser
from babywalk.training.reinforcement import Lecture
from babywalk.training.stage import Stage, TrainingSetup

PACKAGE = str(Path(babywalk.__file__).parent)
FACTORIES = [
    *("arange", "as_tensor", "asarray", "empty", "eye", "full", "linspace"),
    *("ones", "rand", "randint", "randn", "randperm", "tensor", "zeros"),
]
CPU_ONLY = ["from_numpy", "frombuffer"]  # have no argument for the device
TASK = square_task()


class RequireDevice(TorchFunctionMode):
    """Refuses to make a tensor without a device, in code of the package."""

    functions = frozenset(getattr(torch, name) for name in FACTORIES)

    def __init__(self) -> None:
        super().__init__()
        self.checked = 0  # factory calls with a device

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func in self.functions and called_by_package(sys._getframe(1)):
            if (kwargs or {}).get("device") is None:
                raise AssertionError(f"torch.{func.__name__} without a device")
            self.checked += 1
        return func(*args, **(kwargs or {}))


def called_by_package(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(PACKAGE)


def refused(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that torch's mode does not see, and that may not be used."""

    def call(*args: Any, **options: Any) -> Any:
        if called_by_package(sys._getframe(1)):
            raise AssertionError(f"torch.{function.__name__} without a device")
        return function(*args, **options)

    return call


@pytest.fixture
def require_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[RequireDevice]:
    for name in CPU_ONLY:
        monkeypatch.setattr(torch, name, refused(getattr(torch, name)))
    with RequireDevice() as mode:
        yield mode


@pytest.fixture(params=KERNELS)
def kernels(request: pytest.FixtureRequest) -> str:
    return request.param


def new_setup(kernels: str, training: dict[str, Any], **policy: Any) -> tuple[Model, TrainingSetup]:
    """Everything random that a run may have, and features with names and look-ahead."""
    observer = square_observer(TASK, lookahead=True)
    options = {
        "dropout": 0.5,
        "feature_dropout": 0.3,
        "history_dropout": 0.3,
        "lexical_match": 3,
        **policy,
    }
    model = square_model(observer, columns=("x go", "x far north", "x east"), **options)
    rollout = Rollout(model.network.train(), observer.scaled(2.0), kernels=kernels)
    batches = square_batches(TASK)
    teacher = Teacher.of(TASK.houses).to("cpu")
    config = TrainingConfig(**training)
    return model, TrainingSetup(config, rollout, teacher, lambda *_: [batches])


def iterate(model: Model, stage: Stage) -> None:
    """Two iterations with a gradient step each, and an average of the weights."""
    optimiser, average = new_optimiser(model.network, stage), WeightAverage(model.network, 0.9)
    for iteration in range(2):
        result = stage.iterate(iteration, None if iteration == 0 else 0.5)
        assert gradient_step(model.network, optimiser, result.loss, stage.clip) > 0
        average.update(iteration)
    with average.applied():
        pass


@pytest.mark.parametrize("name", [*FACTORIES, *CPU_ONLY])
def test_the_check_finds_a_tensor_without_a_device(require_device: RequireDevice, name: str) -> None:
    """In code of the package, and there only."""
    given = {
        "as_tensor": ([1.0],),
        "asarray": ([1.0],),
        "from_numpy": (np.zeros(3),),
        "frombuffer": (bytearray(4),),
        "full": ((3,), 1.0),
        "linspace": (0, 1, 3),
        "randint": (3, (3,)),
        "tensor": ([1.0],),
    }
    options = {"dtype": torch.float32} if name == "frombuffer" else {}
    source = "lambda function, given, options: function(*given, **options)"
    outside, inside = (eval(compile(source, file, "eval")) for file in ("x.py", observation.__file__))
    function, given = getattr(torch, name), given.get(name, (3,))
    assert len(outside(function, given, options)) > 0
    with pytest.raises(AssertionError, match=rf"torch\.{name} without a device"):
        inside(function, given, options)
    if name in FACTORIES:
        assert len(inside(function, given, {**options, "device": "cpu"})) > 0


def test_every_factory_call_of_the_package_has_a_device() -> None:
    """In the source, also of code that no test here runs."""
    calls, without = 0, []
    for file in sorted(Path(PACKAGE).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if ast.unparse(node.func.value) == "torch" and node.func.attr in (*FACTORIES, *CPU_ONLY):
                calls += 1
                if "device" not in {keyword.arg for keyword in node.keywords}:
                    without.append(f"{file.relative_to(PACKAGE)}:{node.lineno}: {ast.unparse(node)}")
    assert without == []
    assert calls > 20


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("teacher", ["goal", "path"])
def test_imitation(decoder: str, teacher: str, kernels: str, require_device: RequireDevice) -> None:
    config = ImitationConfig(batch=6, teacher=teacher, teacher_share=0.5, chain=2)
    model, setup = new_setup(kernels, {"imitation": config, "mirror": 0.5}, decoder=decoder)
    iterate(model, imitation_stages(setup)[0])
    assert require_device.checked > 0


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("memory", SUMMARIES)
@pytest.mark.parametrize("k", [2, None])
def test_reinforcement(
    decoder: str, memory: str, k: int | None, kernels: str, require_device: RequireDevice
) -> None:
    config = ReinforceConfig(batches=(2,) * 4, samples=3, baseline="instruction", entropy=0.1, imitation=0.5)
    model, setup = new_setup(kernels, {"reinforce": config, "mirror": 0.5}, decoder=decoder, memory=memory)
    iterate(model, Lecture(setup, k))
    assert require_device.checked > 0


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("memory", SUMMARIES)
@pytest.mark.parametrize("context", CONTEXTS)
def test_evaluation(
    decoder: str, memory: str, context: str, kernels: str, require_device: RequireDevice
) -> None:
    _, setup = new_setup(kernels, {}, decoder=decoder, memory=memory, context=context)
    walked = walk_episodes(setup.rollout, square_batches(TASK), np.array([0, 1, 0]), Greedy())
    assert len(walked) == 3
    assert require_device.checked > 0


def test_saving_and_loading(tmp_path: Path, require_device: RequireDevice) -> None:
    model, _ = new_setup("plain", {})
    file = tmp_path / "model.safetensors"
    save_model(file, model)
    loaded = load_model(file)
    load_compatible(model, loaded, file)
    load_mean(model, {file: loaded})
    assert require_device.checked > 0
