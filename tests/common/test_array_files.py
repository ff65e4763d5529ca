"""Arrays from files: read as they were written, or refused with a sentence that names the file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from babywalk.common.array_files import check_range, checked_ragged, map_array, read_array, read_arrays
from babywalk.common.errors import DataError


class Trap:
    """An object that would create a folder if it was unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("unpickled",)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.int32).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(6, dtype=">i8").reshape(3, 2),
        np.zeros((0, 2), dtype=np.float16),
        np.ones((1, 1), dtype=bool),
    ],
)
def test_arrays_are_read_and_mapped_as_they_were_saved(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "a.npy", array)
    for read in (read_array, map_array):
        found = read(tmp_path / "a.npy", "bif", (None, array.shape[1]))
        assert (found.dtype.kind, found.tolist()) == (array.dtype.kind, array.tolist())
    assert read_array(tmp_path / "a.npy", "bif", (None, None)).flags.writeable


def test_the_size_in_the_header_is_checked_before_memory_is_allocated(tmp_path: Path) -> None:
    file = tmp_path / "a.npy"
    with file.open("wb") as stream:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**9)}
        np.lib.format.write_array_header_1_0(stream, header)
    with pytest.raises(DataError, match=r"a\.npy: is not a NumPy file of numbers \(it has 128 bytes where"):
        read_array(file, "f", (None, None))


@pytest.mark.parametrize("cut", [0, 5, 9, 60, 127, 130])
def test_truncated_arrays_are_refused(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "a.npy"
    np.save(file, np.arange(4))
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(DataError, match=r"a\.npy: is not a NumPy file of numbers"):
        read_array(file, "i", (None,))


def test_arrays_of_objects_are_refused_without_unpickling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "a.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "a.npz", a=np.array([Trap()], dtype=object))
    with pytest.raises(DataError, match="its header is not valid"):
        read_array(tmp_path / "a.npy", "iufb", (None,))
    with pytest.raises(DataError, match="its header is not valid"):
        read_arrays(tmp_path / "a.npz", [("a", "iufb", (None,))])
    assert not (tmp_path / "unpickled").exists()


def test_other_types_and_shapes_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((2, 3)))
    with pytest.raises(DataError, match=r"contains float64 of shape \(2, 3\); expected integers of shape"):
        read_array(tmp_path / "a.npy", "i", (2, 3))
    with pytest.raises(DataError, match=r"expected floats of shape \(any, 4\)"):
        map_array(tmp_path / "a.npy", "f", (None, 4))
    with pytest.raises(DataError, match=r"b\.npy: file not found"):
        read_array(tmp_path / "b.npy", "f", (None,))


def test_archives_are_read_and_damaged_or_compressed_ones_refused(tmp_path: Path) -> None:
    file, expected = tmp_path / "a.npz", [("x", "i", (None,)), ("t", "U", (None,))]
    np.savez(file, x=np.arange(3), t=np.array(["a", "bed"]))
    found = read_arrays(file, expected)
    assert (found["x"].tolist(), found["t"].tolist()) == ([0, 1, 2], ["a", "bed"])
    content = bytearray(file.read_bytes())
    content[content.index(bytes([2, 0, 0, 0, 0, 0, 0, 0]))] = 9
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.npz: is not a complete \.npz file \(Bad CRC-32"):
        read_arrays(file, expected)
    with pytest.raises(DataError, match=r"is not a complete \.npz file \(.*y\.npy"):
        read_arrays(file, [("y", "i", (None,))])
    np.savez_compressed(file, x=np.arange(3))
    with pytest.raises(DataError, match="array 'x' is compressed"):
        read_arrays(file, expected)


def test_values_and_starts_of_rows_out_of_range_are_refused() -> None:
    file = Path("a.npy")
    check_range(file, "walks", np.array([0, 4]), 0, 5)
    check_range(file, "walks", np.zeros(0), 0, 0)
    for values in ([-1, 2], [0, 5], [np.nan, 0.0]):
        with pytest.raises(DataError, match=r"a\.npy: walks must be from 0 to below 5"):
            check_range(file, "walks", np.array(values), 0, 5)
    assert checked_ragged(file, "rows", np.arange(3), np.array([0, 1, 3]))[1].tolist() == [1, 2]
    for start in ([], [1, 3], [0, 2], [0, 2, 1, 3]):
        with pytest.raises(DataError, match=r"the starts of rows must ascend from 0 to 3"):
            checked_ragged(file, "rows", np.arange(3), np.array(start, dtype=np.int64))
