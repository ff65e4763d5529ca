from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from builders import corridor

from babywalk.assets.view_features import Panorama
from babywalk.buildings.features import convert_panoramas, convert_parts, open_features, open_source, sources
from babywalk.buildings.houses import Houses
from babywalk.buildings.objects.parts import Part
from babywalk.common.errors import ConfigError, DataError


@pytest.fixture
def houses() -> Houses:
    return Houses.of([corridor("a", 2), corridor("b", 3)])


def panoramas(houses: Houses, width: int = 4) -> Iterator[Panorama]:
    """Feature [viewpoint, view, column] = 100 viewpoint + view + column / 8, last viewpoint first."""
    for number in reversed(range(len(houses.names))):
        values = 100 * number + np.arange(36)[:, None] + np.arange(width) / 8
        yield Panorama(houses.scans[houses.house_of[number]], houses.names[number], values.astype(np.float32))


def parts(houses: Houses) -> list[Part]:
    shape = (len(houses.names), 36)
    return [
        Part("names", ("door", "lamp"), np.full((*shape, 2), 0.25, dtype=np.float16)),
        Part("rooms", ("room 1",), np.full((*shape, 1), 0.5, dtype=np.float16)),
        Part("openness", ("far", "near"), np.full((*shape, 2), 1.0, dtype=np.float16)),
    ]


@pytest.fixture
def data(tmp_path: Path, houses: Houses) -> Path:
    convert_panoramas(tmp_path, "resnet", panoramas(houses), houses, precision="float32", notes=["Be kind."])
    convert_parts(tmp_path, "objects", parts(houses), houses)
    return tmp_path


def test_rows_are_in_the_order_of_the_houses(data: Path, houses: Houses) -> None:
    features = open_features(data, "resnet", houses)
    assert features.width == 4
    seen = features.views(np.array([3, 0]))
    assert seen.shape == (2, 36, 4)
    assert seen.dtype == np.float32
    assert seen[0, 35].tolist() == [335, 335.125, 335.25, 335.375]
    assert features.view(np.array([[1, 2]]), np.array([[5, 6]])).tolist() == [
        [[105, 105.125, 105.25, 105.375], [206, 206.125, 206.25, 206.375]]
    ]
    assert features.panorama(np.array([2]))[0, 0] == pytest.approx(217.5)  # the mean of 200 .. 235


def test_sources_and_parts_are_concatenated(data: Path, houses: Houses) -> None:
    features = open_features(data, "objects:openness,names+resnet", houses)
    assert features.width == 8
    assert features.view(np.array(1), np.array(0)).tolist() == [
        0.25,
        0.25,
        1,
        1,
        100,
        100.125,
        100.25,
        100.375,
    ]
    assert features.columns[:5] == ("objects door", "objects lamp", "objects far", "objects near", "resnet 0")
    assert features.notes == ("Be kind.",)
    assert not features.lookahead
    assert (
        len(open_features(data, "objects:names,rooms,openness", houses).blocks) == 1
    )  # adjacent parts are one block


def test_blind_and_lookahead(data: Path, houses: Houses) -> None:
    blind = open_features(data, "none", houses)
    assert blind.width == 0
    assert blind.views(np.array([0, 1])).shape == (2, 36, 0)
    assert open_features(data, "resnet+lookahead", houses).lookahead
    assert open_features(data, "none+lookahead", houses).lookahead


def test_opening_maps_the_files(data: Path, houses: Houses) -> None:
    source = open_source(data, "resnet", houses)
    assert isinstance(source.views, np.memmap)
    assert not source.views.flags.writeable
    assert sources(data) == ["objects", "resnet"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("resnett", r"Feature source 'resnett' is not known\. Did you mean 'resnet'\?"),
        ("objects:name", r"Part of features 'objects' 'name' is not known\. Did you mean 'names'\?"),
        (
            "none+resnet",
            r"Features 'none\+resnet' are not a valid spec\. Write 'none', or one or more of these",
        ),
        ("", r"Features '' are not a valid spec"),
    ],
)
def test_an_invalid_spec_is_rejected(data: Path, houses: Houses, spec: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        open_features(data, spec, houses)


def test_features_of_other_houses_are_rejected(data: Path) -> None:
    with pytest.raises(DataError, match=r"resnet: was converted for different houses"):
        open_features(data, "resnet", Houses.of([corridor("a", 5)]))


def test_a_missing_panorama_is_an_error(tmp_path: Path, houses: Houses) -> None:
    some = [item for item in panoramas(houses) if item.scan == "a"]
    with pytest.raises(DataError, match=r"each of the 5 viewpoints; 3 are missing: 0, 1, 2\."):
        convert_panoramas(tmp_path, "resnet", some, houses)
    assert not (tmp_path / "features" / "resnet").exists()
    assert not list((tmp_path / "features").iterdir())  # nothing partial remains


def test_panoramas_of_unknown_viewpoints_are_skipped(tmp_path: Path, houses: Houses) -> None:
    unknown_house = Panorama("elsewhere", "0", np.zeros((36, 4), dtype=np.float32))
    excluded = Panorama("a", "77", np.zeros((36, 4), dtype=np.float32))
    rows = [unknown_house, *panoramas(houses), excluded]
    assert convert_panoramas(tmp_path, "resnet", rows, houses) == (5, 2)


def test_an_empty_stream_is_an_error(tmp_path: Path, houses: Houses) -> None:
    with pytest.raises(DataError, match="Features 'x': no panoramas to convert"):
        convert_panoramas(tmp_path, "x", [], houses)


def test_an_unknown_precision_is_rejected(tmp_path: Path, houses: Houses) -> None:
    with pytest.raises(ConfigError, match=r"Precision 'float64' is not known"):
        convert_panoramas(tmp_path, "x", panoramas(houses), houses, precision="float64")


def test_a_truncated_file_is_an_error(data: Path, houses: Houses) -> None:
    views = data / "features" / "resnet" / "views.npy"
    views.write_bytes(views.read_bytes()[:500])
    with pytest.raises(DataError, match=r"views\.npy: has 500 bytes instead of [\d,]+\. Import"):
        open_features(data, "resnet", houses)
