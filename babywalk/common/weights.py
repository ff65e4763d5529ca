"""Weights in safetensors files, for every model: numbers and a JSON header, nothing that is ever executed.

Loading is strict: a weight that is missing, left over, of another shape or dtype, or not finite is an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from babywalk.common.errors import DataError, shortlist
from babywalk.common.files import atomic_write, parse_json

if TYPE_CHECKING:
    from torch import Tensor, nn

_HEADER = "babywalk"
_CHECKSUM = "sha256"  # of header and tensors; files of other programs and of old versions have none


def write_tensors(file: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any] | None = None) -> None:
    """Write tensors, replacing the file atomically; `about` becomes its header."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    contiguous = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    fields = dict(about or {})
    # One text: the order of several would differ from file to file.
    header = {_HEADER: json.dumps({**fields, _CHECKSUM: _checksum(contiguous, fields)})}
    with atomic_write(file) as temporary:
        try:
            save_file(contiguous, temporary, metadata=header)
        except SafetensorError as error:
            # An error of the system, such as a full disk, is raised as the OSError it is.
            number = re.search(r"os error (\d+)", str(error))
            if number is None:
                raise DataError(f"{file}: cannot be written ({error}).") from None
            raise OSError(int(number[1]), os.strerror(int(number[1]))) from None


def read_tensors(file: Path, form: str | None = None) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the header of a file, on the CPU; with `form`, the header's "format" must be that."""
    from safetensors import SafetensorError, safe_open

    if not file.is_file():
        raise DataError(f"{file}: file not found.")
    try:
        with safe_open(file, framework="pt", device="cpu") as opened:
            header = opened.metadata() or {}
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, RuntimeError, TypeError) as error:
        raise DataError(f"{file}: is not a safetensors file of BabyWalk ({error}).") from None
    about = parse_json(header.get(_HEADER, "{}"), f"{file}, header")
    if not isinstance(about, dict):
        raise DataError(f"{file}: the header is not a table{f'; expected one of {form!r}' if form else ''}.")
    if _CHECKSUM in about and about.pop(_CHECKSUM) != _checksum(tensors, about):
        raise DataError(f"{file}: is damaged: it does not match its own SHA-256. Use a copy of it.")
    if form is None:
        return tensors, about
    found = about.get("format")
    if found != form:
        same_kind = isinstance(found, str) and found.rpartition(" ")[0] == form.rpartition(" ")[0]
        hint = (
            " It was written by another version of BabyWalk; tools/convert_weights.py converts models of "
            "format 1."
        )
        raise DataError(f"{file}: has the format {found!r}; expected {form!r}.{hint if same_kind else ''}")
    return tensors, about


def check_sizes(file: Path, tensors: Mapping[str, Tensor], sizes: Mapping[str, int]) -> None:
    """Raise an error if a size, by its name, is larger than any weight, before memory is allocated for it."""
    widest = max((size for tensor in tensors.values() for size in tensor.shape), default=0)
    for name, size in sizes.items():
        if not 1 <= size <= widest:
            raise DataError(f"{file}: the header has {name} = {size}, but no weight has that size.")


def _checksum(tensors: Mapping[str, Tensor], about: Mapping[str, Any]) -> str:
    """The SHA-256 of the header and of all tensors with their names, types and shapes, in hex."""
    import torch

    digest = hashlib.sha256(json.dumps(about).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"\0{name} {tensor.dtype} {list(tensor.shape)}\0".encode())
        digest.update(tensor.cpu().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def load_state(module: nn.Module, tensors: Mapping[str, Tensor], file: Path) -> None:
    """Load weights into a module: all of them and no others, float16 converted to the module's own dtype.

    `file` is where they were read, for the error message. On an error the module is left as it was.
    """
    import torch

    own = module.state_dict()
    missing, extra = sorted(own.keys() - tensors.keys()), sorted(tensors.keys() - own.keys())
    if missing or extra:
        raise DataError(
            f"{file}: weights missing: {shortlist(missing) or 'none'}; "
            f"left over: {shortlist(extra) or 'none'}."
        )
    for name, tensor in tensors.items():
        if tensor.shape != own[name].shape:
            raise DataError(
                f"{file}: weight {name!r} has the shape {tuple(tensor.shape)}; "
                f"expected {tuple(own[name].shape)}. It was trained with other words, features or sizes."
            )
        if tensor.dtype not in (own[name].dtype, torch.float16):
            raise DataError(f"{file}: weight {name!r} is {tensor.dtype}; expected {own[name].dtype}.")
        if not tensor.isfinite().all():
            raise DataError(
                f"{file}: weight {name!r} contains NaN or infinity. Use a model from before it diverged."
            )
    module.load_state_dict(dict(tensors))
