"""A square of a house and two described walks in it, where everything can be followed by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from builders import connectivity, placed, walk

from babywalk.buildings.houses import Houses
from babywalk.common.ragged import Ragged
from babywalk.decoding.episode_batch import EpisodeBatches
from babywalk.episodes.joining import Joint
from babywalk.episodes.task import Task, join_task
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.segmented import SegmentedTexts
from babywalk.instructions.sentences import Sentence, spans
from babywalk.modules.config import PolicyConfig
from babywalk.modules.model import Model, new_model
from babywalk.navigation.history import actions_between
from babywalk.navigation.observation import Observer
from babywalk.navigation.world import World

TEXTS = ["go north. then east. stop here.", "walk on now please."]


def square_task(walks: int = 2) -> Task:
    """A square: 0 south-west, 1 north of it, 2 north-east, 3 south-east; and 4, north of 2 and above."""
    square = connectivity(
        "h", [(0, 0, 0), (0, 2, 0), (2, 2, 0), (2, 0, 0), (2, 4, 2)], [(0, 1), (1, 2), (2, 3), (3, 0), (2, 4)]
    )
    houses = Houses.of([square])
    both = walk("h", [0, 1, 2, 4], 1, TEXTS[:1]), walk("h", [3, 2], 2, TEXTS[1:])
    return join_task("r2r", "val", houses, placed(houses, *both[:walks]), Joint(1, 0, {}), seed=None)


def square_lessons(task: Task) -> EpisodeBatches:
    """Episode 0 in three steps that end at 1, 2 and 4; episode 1, if there is one, in one."""
    cut = [[Sentence(begin, end) for begin, end in spans(text)] for text in TEXTS[: len(task)]]
    segmented = SegmentedTexts.of(cut, frozenset())
    sentences, ends = ([[1, 1, 1], [1]], [[1, 2, 3], [1]])
    steps = BabySteps(task, segmented, Ragged.of(sentences[: len(task)]), Ragged.of(ends[: len(task)]))
    return EpisodeBatches.of(
        steps, World.of(task.houses), Vocabulary.of(TEXTS, at_least=1), PolicyConfig(max_words=3)
    )


def square_observer(task: Task) -> Observer:
    """Views of three random numbers."""
    views = np.random.default_rng(0).random((5, 36, 3), dtype=np.float32)
    return Observer.over(World.of(task.houses), views).to("cpu")


def square_model(observer: Observer, **options: Any) -> Model:
    """An untrained network of a few numbers."""
    small = {"hidden": 8, "action": 4, "words": 5, "dropout": 0.0, "max_moves": 4}
    return new_model(
        PolicyConfig(**{**small, **options}),
        Vocabulary.of(TEXTS, at_least=1),
        None,
        features="x",
        view_width=observer.view_width,
        action_width=observer.candidate_width,
        seed=3,
    )


def leading(houses: Houses, at: int, to: int) -> int:
    """The action that leads from a viewpoint to its neighbour; STOP from one to itself."""
    return int(actions_between(houses, np.array([at]), np.array([to]))[0])
