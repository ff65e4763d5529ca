"""Tensors in files: safetensors, numbers and a header of text, and nothing that could run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from babywalk.common.errors import DataError
from babywalk.common.files import replacing

if TYPE_CHECKING:
    from torch import Tensor

_HEADER = "babywalk"


def write_tensors(file: Path, tensors: Mapping[str, Tensor], about: Mapping[str, Any] | None = None) -> None:
    """Replace a file, atomically; `about` becomes its header."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    kept = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    header = None if about is None else {_HEADER: json.dumps(about)}
    with replacing(file) as temporary:
        try:
            save_file(kept, temporary, metadata=header)
        except SafetensorError as error:
            # What the system said, as everyone else says it: a full disk is not a matter of tensors.
            number = re.search(r"os error (\d+)", str(error))
            if number is None:
                raise DataError(f"{file}: cannot be written ({error}).") from None
            raise OSError(int(number[1]), os.strerror(int(number[1]))) from None


def read_tensors(file: Path, form: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the header of a file of ours, which must be of one form."""
    from safetensors import SafetensorError, safe_open

    if not file.is_file():
        raise DataError(f"{file}: there is no such file.")
    try:
        with safe_open(file, framework="pt") as opened:
            about = json.loads((opened.metadata() or {}).get(_HEADER, "{}"))
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise DataError(f"{file}: is no safetensors file of BabyWalk ({error}).") from None
    if not isinstance(about, dict):
        raise DataError(f"{file}: the header is no table; expected one of {form!r}.")
    found = about.get("format")
    if found != form:
        alike = isinstance(found, str) and found.rpartition(" ")[0] == form.rpartition(" ")[0]
        why = " It was written by another version of BabyWalk: use it with that one." if alike else ""
        raise DataError(f"{file}: holds {found!r}; expected {form!r}.{why}")
    return tensors, about
