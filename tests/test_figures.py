"""Figures in docs/babysteps.md are those that their commands print on the real data."""

from __future__ import annotations

from pathlib import Path

import pytest

from babywalk.cli import main
from babywalk.commands.align import compare_alignments
from babywalk.commands.data import build_tasks
from babywalk.commands.segment import check_segments, segment_data, step_counts

PAGE = (Path(__file__).parents[1] / "docs" / "babysteps.md").read_text()


def documented(heading: str) -> dict[str, list[str]]:
    """The rows of the table whose header starts so: the cells by the first one, without emphasis."""
    lines = PAGE.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    rows = {}
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        rows[name.replace("*", "").removesuffix(" (default)")] = cells
    return rows


@pytest.fixture(scope="module")
def data(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figures") / "data"
    parts = {"connectivity": "connectivity", "r2r": "R2R", "boxes": "BBox", "rooms": "rooms"}
    raw = [f"--{name}={real_data / part}" for name, part in parts.items()]
    raw += [f"--categories={real_data / 'category_mapping.tsv'}", f"--fine-grained={real_data / 'fgr2r'}"]
    glove = ["--glove", str(real_data / "train_vocab.txt"), str(real_data / "train_glove.npy")]
    assert main(["data", "import", *raw, *glove, str(folder)]) == 0
    build_tasks(folder, ["r4r", "r6r", "r8r"], ["train"], full=False, seed=0)
    segment_data(folder, ["train", "val_seen"])
    return folder


@pytest.mark.slow
def test_baby_steps_per_instruction(data: Path) -> None:
    found = {
        reading: [f"{mean:.2f}" for mean in counts.values()] for reading, counts in step_counts(data).items()
    }
    table = documented("Baby-Steps per instruction")
    table.pop("the paper")
    assert found == table


@pytest.mark.slow
def test_agreement_with_human_segmentation(data: Path) -> None:
    found = {
        reading: [
            f"{one.ours:,}",
            f"{one.theirs:,}",
            f"{one.both:,}",
            *(f"{100 * value:.1f}" for value in (one.precision, one.recall, one.f1)),
        ]
        for reading, one in check_segments(data, "val_seen").items()
    }
    assert found == documented("boundaries")


@pytest.mark.slow
def test_accuracy_of_alignment(data: Path) -> None:
    found = {
        method: f"{100 * one.exact:.1f} / {100 * one.within_one:.1f}"
        for method, one in compare_alignments(data, "val_seen").items()
    }
    first = PAGE.index("| | human, R2R val_seen |")
    rows = [line.strip("|").split("|") for line in PAGE[first:].splitlines()[2:5]]
    assert found == {name.strip(): human.strip() for name, human, *_ in rows}
