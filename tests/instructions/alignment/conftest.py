"""One thread for torch, since test workers share the cores; and a small task with its Baby-Steps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from builders import corridor, placed, walk

from babywalk.buildings.houses import Houses
from babywalk.episodes.joining import join_rule
from babywalk.episodes.task import Task, join_task
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.identification import IdentificationConfig, identify
from babywalk.instructions.segmented import SegmentedTexts
from babywalk.instructions.sentences import Sentence, spans

TEXTS = ("Leave the room. Go up the stairs and stop at the top.", "Go straight on, then turn left. Wait.")


@pytest.fixture(scope="package", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def houses() -> Houses:
    return Houses.of([corridor("a", 8)])


@pytest.fixture
def task(houses: Houses) -> Task:
    """Two walks of one text each, the second from one edge after the first one's end."""
    walks = placed(houses, walk("a", [0, 1, 2], 1, TEXTS[:1]), walk("a", [3, 4, 5], 2, TEXTS[1:]))
    return join_task("r4r", "train", houses, walks, join_rule("r4r"), seed=None)


@pytest.fixture
def steps(task: Task) -> BabySteps:
    """Every sentence a step."""
    segmented = SegmentedTexts.of([[Sentence(*span) for span in spans(text)] for text in TEXTS], frozenset())
    rows = segmented.of_episodes(task, np.arange(len(task)))
    return BabySteps(task, segmented, identify(segmented.table, rows, IdentificationConfig(mode="sentence")))
