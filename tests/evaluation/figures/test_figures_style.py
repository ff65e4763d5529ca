from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.image import imread

from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError
from babywalk.evaluation.figures.house import Trajectory, draw_house
from babywalk.evaluation.figures.style import save

WALKS = [Trajectory("expert", (0, 1, 2)), Trajectory("an agent <1>", (0, 1, 0), (1, 2))]


def test_a_png_is_1200_pixels_wide(houses: Houses, tmp_path: Path):
    file = tmp_path / "new folder" / "house.png"
    save(draw_house(houses, "flat", WALKS), file)
    assert file.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    image = imread(file)
    assert image.shape[1] == 1200
    assert image[..., :3].std() > 0.01  # not blank
    assert [path.name for path in file.parent.iterdir()] == ["house.png"]


def test_an_svg_contains_its_text_as_text(houses: Houses, tmp_path: Path):
    file = tmp_path / "house.SVG"
    save(draw_house(houses, "flat", WALKS, instruction="Walk on."), file)
    words = {(element.text or "").strip() for element in ElementTree.parse(file).iter()}
    assert {"expert: 2 moves, 4.5 m", "an agent <1>: 2 moves, 4.5 m", "Walk on."} <= words


def test_a_pdf_is_written(houses: Houses, tmp_path: Path):
    save(draw_house(houses, "flat"), tmp_path / "house.pdf")
    assert (tmp_path / "house.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_same_figure_gives_the_same_bytes(houses: Houses, tmp_path: Path, suffix: str):
    files = [tmp_path / f"{name}.{suffix}" for name in ("one", "two")]
    for file in files:
        save(draw_house(houses, "flat", WALKS), file)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_an_unknown_suffix_is_rejected(houses: Houses, tmp_path: Path):
    figure = draw_house(houses, "flat")
    with pytest.raises(
        ConfigError, match=r"pictures cannot be written as \.jpg\. Choose from: \.png, \.svg, \.pdf\."
    ):
        save(figure, tmp_path / "house.jpg")
    with pytest.raises(ConfigError, match="cannot be written as a file without a suffix"):
        save(figure, tmp_path / "house")
    assert list(tmp_path.iterdir()) == []


def test_saving_does_not_change_matplotlib_settings(houses: Houses, tmp_path: Path):
    watched = ("svg.hashsalt", "svg.fonttype", "pdf.fonttype", "font.size", "figure.dpi")
    before = [matplotlib.rcParams[name] for name in watched]
    save(draw_house(houses, "flat", WALKS), tmp_path / "house.svg")
    assert [matplotlib.rcParams[name] for name in watched] == before
