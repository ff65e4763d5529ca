"""Room classes: the kind of room of each viewpoint, two text files per split.

`<split>_room_pano_image.txt` has lines like `./data/mp_sb/<scan>/<viewpoint>.jpg`; the same line of
`<split>_room_pano_label.txt` is a class, an integer from 1. The publisher does not name the classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from babywalk.assets.records import lines
from babywalk.common.errors import DataError
from babywalk.common.files import matching_files, write_text

IMAGES, LABELS = "_room_pano_image.txt", "_room_pano_label.txt"
PREFIX = "./data/mp_sb"


def read_rooms(folder: Path) -> dict[tuple[str, str], int]:
    """Read and check every split of a folder: (scan, viewpoint) to class."""
    if not folder.is_dir():
        raise DataError(f"{folder}: folder not found.")
    files = matching_files(folder, "*" + IMAGES)
    if not files:
        raise DataError(f"{folder}: has no file named <split>{IMAGES}.")
    rooms: dict[tuple[str, str], int] = {}
    for images in files:
        labels = images.with_name(images.name.removesuffix(IMAGES) + LABELS)
        image_lines, label_lines = lines(images), lines(labels)
        if len(image_lines) != len(label_lines):
            raise DataError(
                f"{labels}: has {len(label_lines)} lines; expected {len(image_lines)}, as in {images.name}."
            )
        for number, (image, label) in enumerate(zip(image_lines, label_lines, strict=True), start=1):
            place = _place(image, f"{images}: line {number}")
            room = _class(label, f"{labels}: line {number}")
            if rooms.setdefault(place, room) != room:
                raise DataError(
                    f"{labels}: line {number} is {room} for scan {place[0]!r}, viewpoint {place[1]!r}; "
                    f"expected {rooms[place]}, as in an earlier line."
                )
    return rooms


def write_rooms(folder: Path, split: str, rooms: Mapping[tuple[str, str], int]) -> None:
    """Write one split in the raw format."""
    images = "".join(f"{PREFIX}/{scan}/{viewpoint}.jpg\n" for scan, viewpoint in rooms)
    write_text(folder / (split + IMAGES), images)
    write_text(folder / (split + LABELS), "".join(f"{room}\n" for room in rooms.values()))


def _place(line: str, where: str) -> tuple[str, str]:
    image = PurePosixPath(line.strip())
    if len(image.parts) < 2 or image.suffix != ".jpg":
        raise DataError(f"{where} is {line!r}; expected a path that ends with <scan>/<viewpoint>.jpg.")
    return image.parent.name, image.stem


def _class(line: str, where: str) -> int:
    text = line.strip()
    if not (text.isascii() and text.isdecimal() and len(text) < 10) or int(text) < 1:
        raise DataError(f"{where} is {line!r}; expected a class, an integer from 1.")
    return int(text)
