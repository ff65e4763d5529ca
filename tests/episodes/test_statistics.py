from __future__ import annotations

from pathlib import Path

import pytest

from babywalk.episodes.dataset import Dataset
from babywalk.episodes.joining import TASKS
from babywalk.episodes.statistics import lengths, statistics, words_per_instruction
from babywalk.episodes.task import join_task


def test_statistics_of_the_dollhouse(dollhouse: Path) -> None:
    dataset = Dataset(dollhouse)
    found = statistics(dataset)
    assert (found.houses, found.viewpoints) == (4, len(dataset.houses.names))
    assert len(found.tasks) == 4 + 3 * 3
    by_place = {(row.task, row.split): row for row in found.tasks}
    r2r, r4r = by_place["r2r", "train"], by_place["r4r", "train"]
    assert r2r.instructions == 3 * r2r.paths
    assert r4r.instructions == 9 * r4r.paths
    assert 1.7 < r4r.words / r2r.words < 2.3
    assert by_place["r2r", "test"].metres is None
    assert {row.split for row in found.unknown_words} == set(dataset.splits)


def test_lengths_of_all_instructions_and_paths(dollhouse: Path) -> None:
    task = Dataset(dollhouse).task("r4r", "val_unseen")
    found = lengths(task)
    assert len(found.words) == len(task)
    assert len(found.viewpoints) == len(task.chain)
    assert found.words[0] == token_count(task[0].instruction)


def token_count(text: str) -> int:
    from babywalk.assets.tokens import tokenise

    return len(tokenise(text))


@pytest.mark.real
def test_the_real_counts(real_dataset: Path) -> None:
    """Equal to the paper's table where that is exact."""
    rows = {(row.task, row.split): row for row in statistics(Dataset(real_dataset)).tasks}
    assert {place: (row.instructions, row.paths) for place, row in rows.items()} == {
        ("r2r", "train"): (14_039, 4_675),
        ("r2r", "val_seen"): (1_021, 340),
        ("r2r", "val_unseen"): (2_349, 783),
        ("r2r", "test"): (4_173, 1_391),
        ("r4r", "train"): (233_532, 25_921),
        ("r4r", "val_seen"): (1_035, 115),
        ("r4r", "val_unseen"): (45_234, 5_026),
        ("r6r", "train"): (89_632, 9_046),
        ("r6r", "val_seen"): (81, 3),
        ("r6r", "val_unseen"): (35_777, 2_160),
        ("r8r", "train"): (94_731, 17_612),
        ("r8r", "val_seen"): (243, 3),
        ("r8r", "val_unseen"): (43_273, 4_744),
    }
    means = [
        [round(mean or 0, 3) for mean in (row.metres, row.viewpoints, row.shortest_metres)]
        for row in (rows["r4r", "train"], rows["r4r", "val_unseen"])
    ]
    assert means == [[20.591, 12.07, 10.501], [20.223, 12.145, 10.048]]


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "split", "instructions", "paths", "words"),
    [
        ("r2r", "train", 14_039, 4_675, 29.41),
        ("r4r", "train", 233_532, 25_921, 58.39),
        ("r6r", "train", 244_449, 9_047, 90.23),
        ("r8r", "train", 1_433_052, 17_680, 119.82),
        ("r2r", "val_unseen", 2_349, 783, 29.25),
        ("r4r", "val_unseen", 45_234, 5_026, 57.78),
        ("r6r", "val_unseen", 58_320, 2_160, 87.26),
        ("r8r", "val_unseen", 384_264, 4_744, 114.91),
    ],
)
def test_the_real_full_products(
    real_dataset: Path, name: str, split: str, instructions: int, paths: int, words: float
) -> None:
    dataset = Dataset(real_dataset)
    task = join_task(name, split, dataset.houses, dataset.walks(split), TASKS[name], seed=None)
    assert (len(task), len(task.chain)) == (instructions, paths)
    assert round(float(words_per_instruction(task).mean()), 2) == words
