"""Room classes: the pairs of files round-trip, and invalid ones are rejected with the reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from babywalk.assets.rooms import read_rooms, write_rooms
from babywalk.common.errors import DataError

ROOMS = {("s", "a"): 1, ("s", "b"): 12, ("dollhouse_000", "a.b"): 3}


def write(folder: Path, images: str, labels: str, split: str = "train") -> None:
    (folder / f"{split}_room_pano_image.txt").write_text(images)
    (folder / f"{split}_room_pano_label.txt").write_text(labels)


def test_round_trip(tmp_path: Path) -> None:
    write_rooms(tmp_path, "train", ROOMS)
    write_rooms(tmp_path, "test", {("t", "a"): 2})
    assert read_rooms(tmp_path) == ROOMS | {("t", "a"): 2}
    first = (tmp_path / "train_room_pano_image.txt").read_text().splitlines()[0]
    assert first == "./data/mp_sb/s/a.jpg"


def test_a_repeated_line_with_the_same_class_is_accepted(tmp_path: Path) -> None:
    write_rooms(tmp_path, "train", ROOMS)
    write_rooms(tmp_path, "test", {("s", "a"): 1})
    assert read_rooms(tmp_path) == ROOMS


@pytest.mark.parametrize(
    ("images", "labels", "message"),
    [
        ("./s/a.jpg\n", "1\n2\n", "label.txt: has 2 lines; expected 1, as in train_room_pano_image.txt."),
        ("./s/a.jpg\n", "0\n", "label.txt: line 1 is '0'; expected a class, an integer from 1."),
        ("./s/a.jpg\n", "1.5\n", "label.txt: line 1 is '1.5'; expected a class, an integer from 1."),
        ("./s/a.jpg\n", "9" * 5000 + "\n", "9'; expected a class, an integer from 1."),
        (
            "a.jpg\n",
            "1\n",
            "image.txt: line 1 is 'a.jpg'; expected a path that ends with <scan>/<viewpoint>.jpg.",
        ),
        ("s/a.png\n", "1\n", "image.txt: line 1 is 's/a.png'; expected a path that ends with"),
        (
            "x/s/a.jpg\ny/s/a.jpg\n",
            "1\n2\n",
            "label.txt: line 2 is 2 for scan 's', viewpoint 'a'; expected 1, as in an earlier line.",
        ),
    ],
)
def test_invalid_files_are_rejected(tmp_path: Path, images: str, labels: str, message: str) -> None:
    write(tmp_path, images, labels)
    with pytest.raises(DataError, match=re.escape(message)):
        read_rooms(tmp_path)


def test_a_folder_without_rooms_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no: folder not found."):
        read_rooms(tmp_path / "no")
    with pytest.raises(DataError, match=r"has no file named <split>_room_pano_image.txt."):
        read_rooms(tmp_path)
    (tmp_path / "train_room_pano_image.txt").touch()
    with pytest.raises(DataError, match=r"label.txt: file not found."):
        read_rooms(tmp_path)


@pytest.mark.real
def test_the_real_rooms(real_data: Path) -> None:
    rooms = read_rooms(real_data / "rooms")
    assert len(rooms) == 7_482
    assert set(rooms.values()) == set(range(1, 13))
