"""Single Baby-Steps as episodes of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders import connectivity, placed, walk

from babywalk.buildings.houses import Houses
from babywalk.common.errors import DataError
from babywalk.common.ragged import Ragged
from babywalk.episodes.dataset import Dataset
from babywalk.episodes.joining import JoinRule
from babywalk.episodes.task import join_task
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.identification import IdentificationConfig
from babywalk.instructions.segmented import SegmentedTexts
from babywalk.instructions.sentences import Sentence, spans
from babywalk.instructions.step_episodes import StepEpisodes
from babywalk.instructions.store import aligned_steps, load_aligned_steps
from babywalk.navigation.world import start_poses

TEXTS = ["go north. then east. stop here.", "walk on now please."]


@pytest.fixture
def steps() -> BabySteps:
    """Up the west side of a square, then east, where two steps share a viewpoint; and one step back west."""
    square = connectivity("h", [(0, 0, 0), (0, 2, 0), (2, 2, 0), (2, 0, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)])
    houses = Houses.of([square])
    walks = placed(houses, walk("h", [0, 1, 2], 1, TEXTS[:1]), walk("h", [2, 1], 2, TEXTS[1:]))
    task = join_task("r2r", "val", houses, walks, JoinRule(1, 0, {}), seed=None)
    segmented = SegmentedTexts.of(
        [[Sentence(begin, end) for begin, end in spans(text)] for text in TEXTS], frozenset()
    )
    return BabySteps(task, segmented, Ragged.of([[1, 1, 1], [1]]), Ragged.of([[1, 2, 2], [1]]))


def test_each_step_starts_where_the_previous_one_ended(steps: BabySteps) -> None:
    single = StepEpisodes.of(steps)
    assert [episode.path for episode in single.task] == [("0", "1"), ("1", "2"), ("2",), ("2", "1")]
    assert [episode.instruction for episode in single.task] == [
        "go north.",
        "then east.",
        "stop here.",
        "walk on now please.",
    ]
    assert single.episode.tolist() == [0, 0, 0, 1]
    assert single.number.tolist() == [0, 1, 2, 0]
    assert single.paths.tolist() == [0, 0, 0, 1]


def test_each_step_starts_with_the_heading_of_the_last_move(steps: BabySteps) -> None:
    """The first has the heading of the episode (0.5 is nearest to 30 degrees), then north, then east."""
    single = StepEpisodes.of(steps)
    assert np.degrees([episode.heading for episode in single.task]).round(1).tolist() == [28.6, 0, 90, 28.6]
    assert start_poses(single.task, np.arange(4)).view.tolist() == [13, 12, 15, 13]


def test_steps_without_ends_are_refused(steps: BabySteps) -> None:
    with pytest.raises(DataError, match="not aligned with paths"):
        StepEpisodes.of(replace(steps, ends=None))


def test_a_sample_of_a_task_has_the_steps_of_the_task(aligned_dollhouse: Path) -> None:
    dataset = Dataset(aligned_dollhouse)
    whole, sample = dataset.task("r4r", "val_seen"), dataset.task("r4r", "val_seen:25")
    of_whole, of_sample = load_aligned_steps(dataset, whole), load_aligned_steps(dataset, sample)
    assert len(of_sample) == 25
    for number, id_ in enumerate(sample.ids(np.arange(25))):
        assert of_sample.steps(number) == of_whole.steps(whole.index_of(id_))
    assert aligned_steps(dataset, sample, IdentificationConfig())[0].ends is not None
    # Larger steps end where some of the small ones do, and have the same text in total.
    coarse, method = aligned_steps(dataset, sample, IdentificationConfig(size=150))
    assert method == "proportional"
    assert 1 < coarse.mean < of_sample.mean
    for number in range(25):
        assert set(coarse.known_ends[number]) <= set(of_sample.known_ends[number])
        assert " ".join(coarse.texts(number)) == " ".join(of_sample.texts(number))
        assert len(coarse.steps(number)[-1].path) + coarse.known_ends[number][:-1].max(initial=0) == len(
            sample[number].path
        )
    with pytest.raises(DataError, match="r4r train are not aligned"):
        load_aligned_steps(dataset, dataset.task("r4r", "train"))
