"""Which device to compute on."""

from __future__ import annotations

import torch

from babywalk.common.errors import ConfigError, unknown

DEVICES = ("auto", "cpu", "cuda")


def choose_device(name: str) -> torch.device:
    """The device of a name; auto: a GPU where torch finds one, else the CPU."""
    if name not in DEVICES and not name.startswith("cuda:"):
        raise unknown("Device", name, DEVICES)
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name != "cpu" and not torch.cuda.is_available():
        raise ConfigError(f"device = {name!r}: torch finds no GPU. Give cpu, or install torch with CUDA.")
    return torch.device(name)
