"""Reading arrays from .npy and .npz files that may be damaged.

The header is parsed without evaluating it, and its shape is compared with the length of the file before
memory is allocated. Arrays of Python objects are never read. Every error is a DataError that names the file.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from babywalk.common.errors import DataError
from babywalk.common.files import read_bytes
from babywalk.common.ragged import Ragged

Shape = Sequence[int | None]  # None: any length

_MAGIC = b"\x93NUMPY"
_MAX_HEADER = 1 << 16  # bytes; NumPy writes 128 for every array here
_HEADER = re.compile(
    r"\{\s*'descr':\s*'([<>|=]?[biufU]\d{1,9})',\s*'fortran_order':\s*(True|False),\s*"
    r"'shape':\s*\(([0-9L, ]*)\),?\s*\}\s*"
)
_MAX_DIMENSIONS = 8
_LENGTH = re.compile(r"(\d{1,18})L?")
_ZIP_ERRORS = (  # everything that zipfile raises for a damaged file
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    KeyError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
)


def read_array(file: Path, kinds: str, shape: Shape) -> NDArray[Any]:
    """A .npy file as an array of the given kinds (NumPy's letters, such as "iu") and shape, in memory."""
    mapped = map_array(file, kinds, shape)
    return np.array(mapped, dtype=mapped.dtype.newbyteorder("="), order="C")


def map_array(file: Path, kinds: str, shape: Shape) -> NDArray[Any]:
    """A .npy file as a read-only array that is mapped into memory."""
    try:
        with file.open("rb") as opened:
            size = file.stat().st_size
            dtype, found, order, offset = _read_header(opened, size, file)
            _check_array(file, "", dtype, found, kinds, shape)
            if not math.prod(found):  # empty files cannot be mapped
                return np.empty(found, dtype=dtype)
            return np.memmap(opened, dtype=dtype, mode="r", offset=offset, shape=found, order=order)
    except FileNotFoundError:
        raise DataError(f"{file}: file not found.") from None
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror or error}).") from None


def read_arrays(file: Path, expected: Iterable[tuple[str, str, Shape]]) -> dict[str, NDArray[Any]]:
    """The arrays of an uncompressed .npz file, as `numpy.savez` writes it: name, kinds and shape of each."""
    content = read_bytes(file)
    found: dict[str, NDArray[Any]] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name, kinds, shape in expected:
                member = archive.getinfo(f"{name}.npy")
                if member.compress_type != zipfile.ZIP_STORED or member.file_size > len(content):
                    raise DataError(f"{file}: array {name!r} is compressed or longer than the file.")
                found[name] = _parse(bytearray(archive.read(member)), file, name, kinds, shape)
    except _ZIP_ERRORS as error:
        why = str(error) or type(error).__name__
        raise DataError(f"{file}: is not a complete .npz file ({why}).") from None
    return found


def check_range(file: Path, what: str, values: NDArray[Any], low: float, high: float) -> None:
    """Raise an error unless low <= value < high for all values; NaN is outside."""
    if values.size and not (low <= values.min() and values.max() < high):
        raise DataError(f"{file}: {what} must be from {low} to below {high}.")


def checked_ragged(file: Path, what: str, values: NDArray[Any], start: NDArray[Any]) -> Ragged:
    """Rows from their values (V,) and starts (R + 1,), which must ascend from 0 to V."""
    if not len(start) or start[0] != 0 or start[-1] != len(values) or (np.diff(start) < 0).any():
        raise DataError(f"{file}: the starts of {what} must ascend from 0 to {len(values):,}.")
    return Ragged(values.astype(np.int32, copy=False), start.astype(np.int64, copy=False))


def _parse(content: bytearray, file: Path, name: str, kinds: str, shape: Shape) -> NDArray[Any]:
    """The array in the bytes of a .npy file, without copying."""
    dtype, found, order, offset = _read_header(io.BytesIO(content), len(content), file)
    _check_array(file, f"array {name!r} ", dtype, found, kinds, shape)
    flat = np.frombuffer(content, dtype=dtype, count=math.prod(found), offset=offset)
    array: NDArray[Any] = flat.reshape(found, order=order)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _read_header(opened: IO[bytes], size: int, file: Path) -> tuple[np.dtype[Any], tuple[int, ...], Any, int]:
    """The dtype, shape, order ("C" or "F") and offset of the data; the data fit the size exactly."""
    start = opened.read(8)
    if not start.startswith(_MAGIC) or len(start) < 8 or start[6] not in (1, 2, 3):
        raise _not_numbers(file, "it does not begin like one")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(opened.read(width), "little")
    offset = len(start) + width + length
    match = _HEADER.fullmatch(opened.read(length).decode("latin-1")) if length <= _MAX_HEADER else None
    parts = [part.strip() for part in match[3].split(",")] if match else []
    lengths = [_LENGTH.fullmatch(part) for part in parts if part]
    if match is None or None in lengths or len(lengths) > _MAX_DIMENSIONS:
        raise _not_numbers(file, "its header is not valid")
    shape = tuple(int(length[1]) for length in lengths if length)
    try:
        dtype = np.dtype(match[1])
    except (TypeError, ValueError):
        raise _not_numbers(file, f"it contains {match[1]!r}") from None
    needed = offset + math.prod(shape) * dtype.itemsize
    if size != needed:
        raise _not_numbers(file, f"it has {size:,} bytes where its header needs {needed:,}")
    return dtype, shape, "F" if match[2] == "True" else "C", offset


def _not_numbers(file: Path, why: str) -> DataError:
    return DataError(f"{file}: is not a NumPy file of numbers ({why}).")


def _check_array(
    file: Path, what: str, dtype: np.dtype[Any], found: tuple[int, ...], kinds: str, shape: Shape
) -> None:
    same = len(found) == len(shape) and all(
        want in (None, have) for want, have in zip(shape, found, strict=True)
    )
    if dtype.kind not in kinds or not same:
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        names = " or ".join(_KINDS[kind] for kind in kinds)
        raise DataError(
            f"{file}: {what}contains {dtype.name} of shape {found}; expected {names} of shape ({wanted})."
        )


_KINDS = {"b": "booleans", "i": "integers", "u": "unsigned integers", "f": "floats", "U": "texts"}
