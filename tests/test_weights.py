"""Weights in the repository: on new data they give the numbers of their cards, to the digit."""

from __future__ import annotations

from pathlib import Path

import pytest

from babywalk.cli import main
from babywalk.commands.evaluate import evaluate_agent
from babywalk.commands.segment import segment_data
from babywalk.evaluation.tables import format_measure
from babywalk.navigation.measures import MEASURES

CHECKOUT = Path(__file__).parents[1]


def check_card(folder: Path, data: Path) -> None:
    """Evaluate weights on R2R val_unseen and compare with the row of their card."""
    segment_data(data, ["val_unseen"])
    found = evaluate_agent(str(folder), data, ["r2r"], "val_unseen")[0]
    (row,) = [
        line
        for line in (folder / "README.md").read_text().splitlines()
        if line.startswith("| R2R val_unseen")
    ]
    published = [cell.split("(")[0].strip() for cell in row.strip("|").split("|")[1:]]
    assert [format_measure(name, found.measures[name].mean) for name in MEASURES] == published


@pytest.mark.slow
@pytest.mark.parametrize("folder", sorted((CHECKOUT / "weights").iterdir()), ids=lambda folder: folder.name)
def test_published_numbers_are_reproduced(folder: Path, real_data: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    parts = {"connectivity": "connectivity", "r2r": "R2R", "boxes": "BBox", "rooms": "rooms"}
    raw = [f"--{name}={real_data / part}" for name, part in parts.items()]
    glove = ["--glove", str(real_data / "train_vocab.txt"), str(real_data / "train_glove.npy")]
    assert main(["data", "import", *raw, *glove, str(data)]) == 0
    check_card(folder, data)


@pytest.mark.slow
def test_published_numbers_of_the_model_in_the_package_are_reproduced(tmp_path: Path) -> None:
    assert main(["data", "dollhouse", str(tmp_path / "data")]) == 0
    check_card(CHECKOUT / "babywalk" / "weights" / "dollhouse", tmp_path / "data")
