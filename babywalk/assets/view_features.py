"""View features: the output of an image network for each view, one TSV row per panorama.

No header; columns `scanId viewpointId image_w image_h vfov features`, the last being base64 of 36 rows of
little-endian float32 numbers. The number of dimensions depends on the network (ResNet-152: 2048) and is read
from the data.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from babywalk.common.errors import DataError
from babywalk.common.files import atomic_write

COLUMNS = ("scanId", "viewpointId", "image_w", "image_h", "vfov", "features")
VIEWS = 36
CAMERA = b"640\t480\t60"  # width and height in pixels, vertical field of view in degrees

_FLOATS = np.dtype("<f4")
_BUFFER = 1 << 20  # bytes; rows are long, the default of 8 kB is slow


@dataclass(frozen=True, slots=True, eq=False)
class Panorama:
    """The features of the views around one viewpoint. Shapes: D features, the same for a whole file."""

    scan: str
    viewpoint: str
    views: NDArray[np.float32]  # (36, D), all finite; read-only if read from a file


def read_view_features(file: Path) -> Iterator[Panorama]:
    """Read and check a file row by row; only one row is in memory at a time."""
    try:
        lines = file.open("rb", buffering=_BUFFER)
    except FileNotFoundError:
        raise DataError(f"{file}: file not found.") from None
    except OSError as error:
        raise DataError(f"{file}: cannot be read ({error.strerror}).") from None
    seen: set[tuple[str, str]] = set()
    width: int | None = None
    with lines:
        for number, line in enumerate(lines, start=1):
            panorama = _panorama(line, f"{file}: line {number}", width)
            name = (panorama.scan, panorama.viewpoint)
            if name in seen:
                raise DataError(
                    f"{file}: line {number}: scan {name[0]!r}, viewpoint {name[1]!r} "
                    "is a duplicate; expected one line per viewpoint."
                )
            seen.add(name)
            width = panorama.views.shape[1]
            yield panorama
    if width is None:
        raise DataError(f"{file}: is empty; expected one line per viewpoint.")


def write_view_features(file: Path, panoramas: Iterable[Panorama]) -> None:
    """Write panoramas in the raw format, one by one."""
    with atomic_write(file) as temporary, temporary.open("wb", buffering=_BUFFER) as lines:
        for panorama in panoramas:
            features = binascii.b2a_base64(panorama.views.astype(_FLOATS).tobytes(), newline=False)
            names = f"{panorama.scan}\t{panorama.viewpoint}".encode()
            lines.write(b"\t".join((names, CAMERA, features)) + b"\n")


def _panorama(line: bytes, where: str, width: int | None) -> Panorama:
    columns = line.rstrip(b"\r\n").split(b"\t")
    if len(columns) != len(COLUMNS):
        expected = f"{len(COLUMNS)} separated by tabs ({' '.join(COLUMNS)})"
        raise DataError(f"{where} has {len(columns)} columns; expected {expected}.")
    scan, viewpoint, *camera, features = columns
    if not all(value.isdigit() for value in camera):
        raise DataError(f"{where}: image_w, image_h and vfov must be integers, for example 640, 480 and 60.")
    return Panorama(
        scan=_name(scan, where, "scanId"),
        viewpoint=_name(viewpoint, where, "viewpointId"),
        views=_views(features, where, width),
    )


def _name(raw: bytes, where: str, column: str) -> str:
    try:
        name = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{where}: column {column!r} is not UTF-8 text.") from None
    if not name:
        raise DataError(f"{where}: column {column!r} is empty; expected a name.")
    return name


def _views(text: bytes, where: str, width: int | None) -> NDArray[np.float32]:
    try:
        data = binascii.a2b_base64(text)
    except binascii.Error:
        data = b""
    # The decoder skips invalid characters; then the text is longer than its bytes require.
    if not data or len(text) != 4 * -(-len(data) // 3):
        raise DataError(f"{where}: column 'features' is not base64; the line may be truncated.")
    row = VIEWS * _FLOATS.itemsize
    if len(data) % row:
        raise DataError(
            f"{where}: column 'features' has {len(data)} bytes; "
            f"expected float32 numbers for {VIEWS} views, a multiple of {row} bytes."
        )
    if width is not None and len(data) != width * row:
        raise DataError(
            f"{where}: column 'features' has {len(data) // row} dimensions per view; "
            f"expected {width}, as in the previous lines."
        )
    views = np.frombuffer(data, _FLOATS).reshape(VIEWS, -1).astype(np.float32, copy=False)
    if not np.isfinite(views).all():
        raise DataError(f"{where}: column 'features' contains NaN or infinity; expected finite numbers.")
    return views
