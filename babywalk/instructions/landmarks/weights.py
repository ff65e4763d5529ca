"""Weights in files: safetensors, numbers and nothing that could run; loaded whole or not at all."""

from __future__ import annotations

from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from babywalk.common.errors import DataError
from babywalk.common.weights import write_tensors


def save_weights(file: Path, network: nn.Module) -> None:
    """Write every weight of a network."""
    write_tensors(file, network.state_dict())


def load_weights(file: Path, network: nn.Module) -> None:
    """Fill a network; names and shapes must be exactly its own."""
    try:
        stored: dict[str, Tensor] = load_file(file)
    except (OSError, SafetensorError) as error:
        raise DataError(f"{file}: cannot be read as weights ({error}). Train again.") from None
    expected = network.state_dict()
    wrong = sorted(stored.keys() ^ expected.keys()) + sorted(
        name for name in stored.keys() & expected.keys() if stored[name].shape != expected[name].shape
    )
    if wrong:
        raise DataError(f"{file}: {wrong[0]!r} does not fit the network of its configuration. Train again.")
    network.load_state_dict(stored)
