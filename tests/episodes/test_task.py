from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders import connectivity, corridor, placed, walk

from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError
from babywalk.episodes.joining import JoinRule
from babywalk.episodes.task import Task, join_task
from babywalk.episodes.walks import Walks


@pytest.fixture
def houses() -> Houses:
    return Houses.of([corridor("a", 5), corridor("b", 5)])


@pytest.fixture
def walks(houses: Houses) -> Walks:
    return placed(
        houses,
        walk("a", [0, 1, 2], 11, ["A one. ", "A two."]),
        walk("a", [2, 3], 12, [" B one.", "B two.", "B three."]),
        walk("b", [4, 3], 13, ["C."]),
    )


@pytest.fixture
def r4r(houses: Houses, walks: Walks) -> Task:
    """One chain, of 2 x 3 instructions: walk 11 and then walk 12."""
    return join_task("r4r", "val", houses, walks, JoinRule(2, 0.5, {}), seed=None)


def test_r2r_consists_of_the_walks(houses: Houses, walks: Walks) -> None:
    task = join_task("r2r", "val", houses, walks, JoinRule(1, 0.0, {}), seed=None)
    assert [episode.id for episode in task] == ["11_0", "11_1", "12_0", "12_1", "12_2", "13_0"]
    assert task[0].instruction == "A one. "  # unchanged
    assert task[5].path == ("4", "3")
    assert task[5].scan == "b"
    assert task[-1] == task[5]
    with pytest.raises(IndexError, match="episode 6 of 6"):
        task[6]


def test_a_chain_has_every_combination_of_its_instructions(r4r: Task) -> None:
    assert [(episode.id, episode.instruction) for episode in r4r] == [
        ("0_0", "A one.  B one."),
        ("0_1", "A one. B two."),
        ("0_2", "A one. B three."),
        ("0_3", "A two. B one."),
        ("0_4", "A two. B two."),
        ("0_5", "A two. B three."),
    ]
    assert r4r[0].path == ("0", "1", "2", "3")
    assert r4r[0].heading == 0.5
    assert r4r.texts_of(np.array([[0, 5]])).tolist() == [[[0, 2], [1, 4]]]


def test_headings_at_the_start_and_along_the_path() -> None:
    """North from 0 to 1, east to 2, then north-east: at 40 degrees the nearest view is at 30."""
    positions = [(0, 0, 0), (0, 2, 0), (2, 2, 0), (2 + np.sin(np.radians(40)), 2 + np.cos(np.radians(40)), 1)]
    houses = Houses.of([corridor("a", 2), connectivity("b", positions, [(0, 1), (1, 2), (2, 3)])])
    walks = placed(houses, walk("a", [1, 0], 1), walk("b", [0, 1, 2, 3], 2))
    task = join_task("r2r", "val", houses, walks, JoinRule(1, 0.0, {}), seed=None)
    assert task.start_headings(np.array([1, 0])).tolist() == [0.5, 0.5]
    along = task.start_headings(np.array([1, 1, 1, 1, 0]), np.array([0, 1, 2, 3, 1]))
    assert along.tolist() == pytest.approx([0.5, 0.0, np.pi / 2, np.pi / 6, np.pi])


def test_a_sample_keeps_ids_and_order(r4r: Task) -> None:
    sample = r4r.sampled(3, seed=4)
    assert len(sample) == 3
    whole = {episode.id: episode for episode in r4r}
    assert [whole[episode.id] for episode in sample] == list(sample)
    assert [e.id for e in sample] == sorted(e.id for e in sample)
    assert list(r4r.sampled(3, seed=4)) == list(sample)
    assert any(list(r4r.sampled(3, seed=seed)) != list(sample) for seed in range(5, 9))
    assert [e.id for e in sample.sampled(2)] == [
        e.id for e in sample if e.id in {x.id for x in sample.sampled(2)}
    ]
    assert r4r.sampled(99) is r4r
    with pytest.raises(ConfigError, match="A sample size of 0 is out of range"):
        r4r.sampled(0)


def test_a_task_of_the_published_size_has_consecutive_ids(houses: Houses, walks: Walks) -> None:
    rule = JoinRule(2, 0.5, {"val": 4})
    sampled = join_task("r6r", "val", houses, walks, rule, seed=0)
    assert [episode.id for episode in sampled] == ["0_0", "0_1", "0_2", "0_3"]
    assert sampled.full_size == 6
    assert len(join_task("r6r", "other", houses, walks, rule, seed=0)) == 6  # nothing published for it
    assert len(join_task("r6r", "val", houses, walks, rule, seed=None)) == 6


def test_samples_are_uniform(houses: Houses, walks: Walks) -> None:
    rule = JoinRule(2, 0.5, {"val": 3})
    drawn = np.zeros(6)
    for seed in range(600):
        chosen = join_task("r6r", "val", houses, walks, rule, seed=seed).chosen
        assert chosen is not None
        drawn[chosen] += 1
    assert np.abs(drawn - 300).max() < 60  # five standard deviations


def test_as_walks_groups_the_instructions_of_a_path(r4r: Task) -> None:
    (only,) = r4r.as_walks()
    assert only.path == ("0", "1", "2", "3")
    assert only.distance == 6.0
    assert len(only.instructions) == 6
    sample = r4r.sampled(2, seed=1)
    (part,) = sample.as_walks()
    assert list(part.instructions) == [episode.instruction for episode in sample]


def test_an_exported_task_round_trips(houses: Houses, walks: Walks, tmp_path: Path) -> None:
    from babywalk.assets.r2r import write_walks
    from babywalk.episodes.walks import load_walks

    sampled = join_task("r6r", "val", houses, walks, JoinRule(2, 0.5, {"val": 4}), seed=0)
    write_walks(tmp_path / "out.json", sampled.as_walks())
    again = join_task(
        "r2r", "val", houses, load_walks(tmp_path / "out.json", houses), JoinRule(1, 0, {}), seed=None
    )
    assert list(again) == list(sampled)


def test_a_test_split_exports_without_distance(houses: Houses) -> None:
    walks = placed(houses, replace(walk("a", [1], 5), distance=None))
    task = join_task("r2r", "test", houses, walks, JoinRule(1, 0.0, {}), seed=None)
    assert [w.distance for w in task.as_walks()] == [None]
