"""Tensor files, and the strict loading of weights that all models share."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from babywalk.common.errors import DataError
from babywalk.common.weights import load_state, read_tensors, write_tensors

FILE = Path("w.safetensors")


def test_tensors_and_header_are_read_as_they_were_written(tmp_path: Path) -> None:
    tensors = {"a": torch.arange(6.0).view(2, 3).T, "b": torch.tensor([True])}
    write_tensors(tmp_path / FILE, tensors, {"format": "babywalk test 1", "n": 3})
    read, about = read_tensors(tmp_path / FILE, "babywalk test 1")
    assert about == {"format": "babywalk test 1", "n": 3}
    assert all(torch.equal(read[name], tensor) for name, tensor in tensors.items())


def test_a_file_without_header_is_read_where_no_format_is_asked_for(tmp_path: Path) -> None:
    write_tensors(tmp_path / FILE, {"a": torch.ones(2)})
    tensors, about = read_tensors(tmp_path / FILE)
    assert (tensors["a"].tolist(), about) == ([1.0, 1.0], {})
    with pytest.raises(DataError, match=r"has the format None; expected 'babywalk test 2'\.$"):
        read_tensors(tmp_path / FILE, "babywalk test 2")


def test_another_version_of_the_format_is_named(tmp_path: Path) -> None:
    write_tensors(tmp_path / FILE, {"a": torch.ones(2)}, {"format": "babywalk test 1"})
    with pytest.raises(DataError, match=r"expected 'babywalk test 2'\. It was written by another version"):
        read_tensors(tmp_path / FILE, "babywalk test 2")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"w\.safetensors: file not found"):
        read_tensors(tmp_path / FILE)
    (tmp_path / FILE).write_bytes(b"\x80\x04pickle?")
    with pytest.raises(DataError, match=r"w\.safetensors: is not a safetensors file of BabyWalk"):
        read_tensors(tmp_path / FILE)


def test_load_state_fills_a_module_and_converts_half_precision() -> None:
    module = nn.Linear(2, 1)
    load_state(module, {"weight": torch.ones(1, 2), "bias": torch.ones(1, dtype=torch.float16)}, FILE)
    assert module.weight.tolist() == [[1.0, 1.0]]
    assert module.bias.dtype == torch.float32


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bias": None}, "weights missing: bias; left over: none"),
        ({"more": torch.ones(1)}, "weights missing: none; left over: more"),
        ({"bias": torch.ones(3)}, r"weight 'bias' has the shape \(3,\); expected \(1,\)"),
        ({"bias": torch.ones(1, dtype=torch.float64)}, r"'bias' is torch\.float64; expected torch\.float32"),
        ({"bias": torch.tensor([torch.nan])}, "weight 'bias' contains NaN or infinity"),
        ({"bias": torch.tensor([torch.inf])}, "weight 'bias' contains NaN or infinity"),
    ],
)
def test_load_state_refuses_what_does_not_fit(change: dict[str, torch.Tensor | None], message: str) -> None:
    module = nn.Linear(2, 1)
    before = {name: weight.clone() for name, weight in module.state_dict().items()}
    tensors = {"weight": torch.ones(1, 2), "bias": torch.ones(1), **change}
    with pytest.raises(DataError, match=rf"^w\.safetensors: .*{message}"):
        load_state(module, {name: value for name, value in tensors.items() if value is not None}, FILE)
    assert all(torch.equal(before[name], weight) for name, weight in module.state_dict().items())
