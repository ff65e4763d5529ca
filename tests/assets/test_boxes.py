"""Object boxes: the raw format round-trips, and an invalid file is rejected with the reason."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babywalk.assets.boxes import SeenObject, ViewpointObjects, boxes_files, read_boxes, write_boxes
from babywalk.common.errors import DataError

NAME = st.text(st.characters(codec="utf-8", exclude_characters="#"), min_size=1)
BOX = st.builds(
    lambda x, y, w, h: (x, y, 1 + w % (640 - x), 1 + h % (480 - y)),
    st.integers(0, 639),
    st.integers(0, 479),
    st.integers(0, 639),
    st.integers(0, 479),
)


@st.composite
def seen_objects(draw: st.DrawFn, object_id: str) -> SeenObject:
    views = draw(st.lists(st.integers(0, 35), unique=True, max_size=4))
    boxes = tuple(draw(BOX) for _ in views)
    return SeenObject(object_id, draw(NAME), tuple(views), boxes)


def table() -> dict[str, Any]:
    return {
        "v_1": {
            "12": {"name": "table#lamp", "visible_pos": [0, 35], "bbox2d": [[0, 0, 640, 480], [1, 2, 3, 4]]}
        }
    }


def written(folder: Path, value: object) -> Path:
    file = folder / "dollhouse_000_v_1.json"
    file.write_text(json.dumps(value))
    return file


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("round")
    count = data.draw(st.integers(0, 3))
    objects = tuple(data.draw(seen_objects(str(index))) for index in range(count))
    seen = ViewpointObjects("dollhouse_000", "v_1", objects)
    write_boxes(folder, seen)
    (file,) = boxes_files(folder)
    assert read_boxes(file) == seen


def test_a_hash_in_a_raw_name_is_a_space(tmp_path: Path) -> None:
    seen = read_boxes(written(tmp_path, table()))
    assert seen == ViewpointObjects(
        "dollhouse_000", "v_1", (SeenObject("12", "table lamp", (0, 35), ((0, 0, 640, 480), (1, 2, 3, 4))),)
    )
    write_boxes(tmp_path / "again", seen)
    assert json.loads((tmp_path / "again" / "dollhouse_000_v_1.json").read_text()) == table()


@pytest.mark.parametrize(
    ("corrupt", "message"),
    [
        (lambda item: item.pop("name"), "object '12' has no field 'name'; expected a string."),
        (
            lambda item: item.update(visible_pos=[0, 36]),
            "object '12': field 'visible_pos' is a list of 2; expected distinct views from 0 to 35.",
        ),
        (
            lambda item: item.update(visible_pos=[4, 4]),
            "object '12': field 'visible_pos' is a list of 2; expected d",
        ),
        (
            lambda item: item.update(visible_pos=["0"]),
            "object '12': field 'visible_pos' is a list of 1; expected a list of integers.",
        ),
        (
            lambda item: item.update(visible_pos=[1]),
            "object '12': field 'bbox2d' is a list of 2; expected 1 boxes, one per view in 'visible_pos'.",
        ),
        (lambda item: item.update(bbox2d=7), "object '12': field 'bbox2d' is 7; expected a list of boxes."),
        *[
            (
                lambda item, box=box: item.update(bbox2d=[[0, 0, 1, 1], box]),
                "object '12': field 'bbox2d' is a list of 2; "
                "expected boxes [x, y, width, height] in integer pixels inside a view of 640x480.",
            )
            for box in (
                [0, 0, 1],
                [0, 0, 641, 1],
                [0, 479, 1, 2],
                [-1, 0, 5, 5],
                [0, 0, 0, 1],
                [0, 0, 1.5, 1],
                "box",
            )
        ],
    ],
)
def test_an_invalid_object_is_rejected(
    tmp_path: Path, corrupt: Callable[[dict[str, Any]], object], message: str
) -> None:
    value = table()
    corrupt(value["v_1"]["12"])
    file = written(tmp_path, value)
    with pytest.raises(DataError, match="^" + re.escape(f"{file}: {message}")):
        read_boxes(file)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "the top level is a list of 0; expected an object."),
        ({}, "contains 0 viewpoints; expected one."),
        ({"a": {}, "b": {}}, "contains 2 viewpoints; expected one."),
        ({"other": {}}, "contains viewpoint 'other'; expected the one in the file name."),
        (
            {"dollhouse_000_v_1": {}},
            "contains viewpoint 'dollhouse_000_v_1'; expected the one in the file name.",
        ),
        ({"v_1": []}, "viewpoint 'v_1' is a list of 0; expected an object."),
        ({"v_1": {"3": []}}, "object '3' is a list of 0; expected an object."),
    ],
)
def test_an_invalid_file_is_rejected(tmp_path: Path, value: object, message: str) -> None:
    file = written(tmp_path, value)
    with pytest.raises(DataError, match="^" + re.escape(f"{file}: {message}") + "$"):
        read_boxes(file)


def test_a_folder_without_boxes_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no: folder not found."):
        boxes_files(tmp_path / "no")
    with pytest.raises(DataError, match=r"has no file named <scan>_<viewpoint>.json."):
        boxes_files(tmp_path)


@pytest.mark.real
def test_all_real_boxes(real_data: Path) -> None:
    seen = [read_boxes(file) for file in boxes_files(real_data / "BBox")]
    objects = [item for viewpoint in seen for item in viewpoint.objects]
    assert len({(viewpoint.scan, viewpoint.viewpoint) for viewpoint in seen}) == len(seen) == 10_567
    assert len({viewpoint.scan for viewpoint in seen}) == 90
    assert sum(not viewpoint.objects for viewpoint in seen) == 2_385
    assert len({item.name for item in objects}) == 1_325
    assert len(objects) == 38_293
    assert sum(not item.views for item in objects) == 10_233
