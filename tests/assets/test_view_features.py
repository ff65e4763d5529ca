"""View features: streamed, of any width, and every line is checked."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babywalk.assets.view_features import Panorama, read_view_features, write_view_features
from babywalk.common.errors import DataError


def panorama(viewpoint: str, width: int = 4, seed: int = 0) -> Panorama:
    views = np.random.default_rng(seed).normal(size=(36, width)).astype(np.float32)
    return Panorama("house_000", viewpoint, views)


def row(*, viewpoint: bytes = b"b", camera: bytes = b"640\t480\t60", views: object = None) -> bytes:
    data = np.ones((36, 4), "<f4") if views is None else np.asarray(views, "<f4")
    return b"\t".join((b"house_000", viewpoint, camera, base64.b64encode(data.tobytes()))) + b"\n"


@settings(max_examples=30, deadline=None)
@given(width=st.integers(1, 50), count=st.integers(1, 4), seed=st.integers(0, 2**32))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, width: int, count: int, seed: int) -> None:
    file = tmp_path_factory.mktemp("round") / "features.tsv"
    written = [panorama(f"v{index}", width, seed + index) for index in range(count)]
    write_view_features(file, written)
    read = list(read_view_features(file))
    assert [(item.scan, item.viewpoint) for item in read] == [(item.scan, item.viewpoint) for item in written]
    for again, item in zip(read, written, strict=True):
        assert again.views.dtype == np.float32
        np.testing.assert_array_equal(again.views, item.views)


def test_published_lines_are_read(tmp_path: Path) -> None:
    file = tmp_path / "features.tsv"
    file.write_bytes(row().replace(b"\n", b"\r\n"))  # Python's csv module ends lines so
    (only,) = read_view_features(file)
    np.testing.assert_array_equal(only.views, np.ones((36, 4)))


def test_a_written_line_has_the_raw_columns(tmp_path: Path) -> None:
    write_view_features(tmp_path / "f.tsv", [Panorama("s", "v", np.ones((36, 4), np.float32))])
    assert (tmp_path / "f.tsv").read_bytes() == row(viewpoint=b"v").replace(b"house_000", b"s")


def test_lines_longer_than_the_csv_limit_are_read(tmp_path: Path) -> None:
    file = tmp_path / "features.tsv"
    write_view_features(file, [panorama("a", 2048)])
    assert file.stat().st_size > 131_072
    assert next(read_view_features(file)).views.shape == (36, 2048)


def test_rows_are_read_one_by_one(tmp_path: Path) -> None:
    file = tmp_path / "features.tsv"
    file.write_bytes(row(viewpoint=b"a") + b"broken\n")
    rows = read_view_features(file)
    assert next(rows).viewpoint == "a"
    with pytest.raises(DataError, match="line 2 has 1 columns"):
        next(rows)


def test_a_failed_write_leaves_no_file(tmp_path: Path) -> None:
    def half() -> object:
        yield panorama("a")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_view_features(tmp_path / "features.tsv", half())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            b"house_000\tb\t640\t480\t60\n",
            "line 2 has 5 columns; "
            "expected 6 separated by tabs (scanId viewpointId image_w image_h vfov features).",
        ),
        (b"\n", "line 2 has 1 columns; "),
        (
            row(camera=b"640\tx\t60"),
            "line 2: image_w, image_h and vfov must be integers, for example 640, 480 and 60.",
        ),
        (row(viewpoint=b"\xff"), "line 2: column 'viewpointId' is not UTF-8 text."),
        (row(viewpoint=b""), "line 2: column 'viewpointId' is empty; expected a name."),
        (row()[:-3], "line 2: column 'features' is not base64; the line may be truncated."),
        (row()[:100] + b"!" + row()[101:], "line 2: column 'features' is not base64"),
        (row()[:100] + b"!!!!" + row()[104:], "line 2: column 'features' is not base64"),
        (row()[:100] + b"====" + row()[104:], "line 2: column 'features' is not base64"),
        (
            row().rstrip(b"\n") + b"AAAA\n",
            "line 2: column 'features' has 579 bytes; expected float32 numbers "
            "for 36 views, a multiple of 144 bytes.",
        ),
        (b"house_000\tb\t640\t480\t60\t\n", "line 2: column 'features' is not base64"),
        (
            row(views=np.ones((36, 5))),
            "line 2: column 'features' has 5 dimensions per view; expected 4, as in the previous lines.",
        ),
        (
            row(views=np.full((36, 4), np.nan)),
            "line 2: column 'features' contains NaN or infinity; expected finite numbers.",
        ),
        (row(views=np.full((36, 4), -np.inf)), "line 2: column 'features' contains NaN or infinity"),
        (
            row(viewpoint=b"a"),
            "line 2: scan 'house_000', viewpoint 'a' is a duplicate; expected one line per viewpoint.",
        ),
    ],
)
def test_an_invalid_line_is_rejected(tmp_path: Path, line: bytes, message: str) -> None:
    file = tmp_path / "features.tsv"
    file.write_bytes(row(viewpoint=b"a") + line)
    with pytest.raises(DataError, match="^" + re.escape(f"{file}: {message}")):
        list(read_view_features(file))


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=300))
def test_any_bytes_are_read_or_rejected(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.tsv"
    file.write_bytes(b"s\tv\t1\t1\t1\t" + data)
    try:
        (only,) = read_view_features(file)
    except DataError:
        return
    assert base64.b64encode(only.views.tobytes()) == data.rstrip(b"\r\n")


def test_an_empty_file_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "empty.tsv").touch()
    with pytest.raises(DataError, match=r"empty.tsv: is empty; expected one line per viewpoint."):
        list(read_view_features(tmp_path / "empty.tsv"))


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no.tsv: file not found."):
        list(read_view_features(tmp_path / "no.tsv"))
    with pytest.raises(DataError, match="cannot be read"):
        list(read_view_features(tmp_path))
