"""A square house and two described walks in it, small enough to check everything by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from builders import connectivity, placed, walk
from torch import Tensor

from babywalk.buildings.houses import Houses
from babywalk.common.ragged import Ragged
from babywalk.decoding.episode_batch import EpisodeBatch, EpisodeBatches
from babywalk.decoding.rollout import ActionSelector, Walkers
from babywalk.episodes.joining import JoinRule
from babywalk.episodes.task import Task, join_task
from babywalk.episodes.vocabulary import Vocabulary
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.segmented import SegmentedTexts
from babywalk.instructions.sentences import Sentence, spans
from babywalk.modules.config import PolicyConfig
from babywalk.modules.decoder import Decision
from babywalk.modules.model import Model, new_model
from babywalk.modules.network import Network
from babywalk.navigation.history import actions_between
from babywalk.navigation.observation import Observer
from babywalk.navigation.teacher import Teacher
from babywalk.navigation.world import World

TEXTS = ["go north. then east. stop here.", "walk on now please."]


def square_task(walks: int = 2) -> Task:
    """A square: 0 south-west, 1 north of it, 2 north-east, 3 south-east; and 4, north of 2 and above."""
    square = connectivity(
        "h", [(0, 0, 0), (0, 2, 0), (2, 2, 0), (2, 0, 0), (2, 4, 2)], [(0, 1), (1, 2), (2, 3), (3, 0), (2, 4)]
    )
    houses = Houses.of([square])
    both = walk("h", [0, 1, 2, 4], 1, TEXTS[:1]), walk("h", [3, 2], 2, TEXTS[1:])
    return join_task("r2r", "val", houses, placed(houses, *both[:walks]), JoinRule(1, 0, {}), seed=None)


def square_batches(task: Task) -> EpisodeBatches:
    """Episode 0 in three steps that end at 1, 2 and 4; episode 1, if there is one, in one."""
    cut = [[Sentence(begin, end) for begin, end in spans(text)] for text in TEXTS[: len(task)]]
    segmented = SegmentedTexts.of(cut, frozenset())
    sentences, ends = ([[1, 1, 1], [1]], [[1, 2, 3], [1]])
    steps = BabySteps(task, segmented, Ragged.of(sentences[: len(task)]), Ragged.of(ends[: len(task)]))
    return EpisodeBatches.of(
        steps, World.of(task.houses), Vocabulary.of(TEXTS, min_count=1), PolicyConfig(max_words=3)
    )


def square_observer(task: Task, *, lookahead: bool = False, dtype: torch.dtype = torch.float32) -> Observer:
    """Views of three random features."""
    random = np.random.default_rng(0)
    views = random.random((5, 36, 3), dtype=np.float32)
    panoramas = random.random((5, 3), dtype=np.float32) if lookahead else None
    observer = Observer.over(World.of(task.houses), views, panoramas).to("cpu")
    ahead = observer.panorama_table
    return replace(
        observer,
        views_table=observer.views_table.to(dtype),
        panorama_table=None if ahead is None else ahead.to(dtype),
        orientation_table=observer.orientation_table.to(dtype),
    )


def square_model(observer: Observer, *, columns: tuple[str, ...] = (), **options: Any) -> Model:
    """A small untrained network."""
    small = {"hidden": 8, "action": 4, "words": 5, "dropout": 0.0, "max_moves": 4}
    return new_model(
        PolicyConfig(**{**small, **options}),
        Vocabulary.of(TEXTS, min_count=1),
        None,
        features="x",
        view_width=observer.view_width,
        action_width=observer.candidate_width,
        columns=columns,
        seed=3,
    )


def with_large_weights(network: Network) -> Network:
    """The network with weights that are not small: nearly uniform attention would hide errors."""
    torch.manual_seed(5)
    with torch.no_grad():
        for weight in network.parameters():
            weight += 0.4 * torch.randn_like(weight)
    return network.eval()


def leading(houses: Houses, at: int, to: int) -> int:
    """The action that leads from a viewpoint to its neighbour; STOP from one to itself."""
    return int(actions_between(houses, np.array([at]), np.array([to]))[0])


def follow_teacher(task: Task, batch: EpisodeBatch) -> ActionSelector:
    """Selects the first action of the shortest path to the end of each walker's step."""
    teacher, goals = Teacher.of(task.houses).to("cpu"), torch.as_tensor(batch.goals)

    def select(decision: Decision, walkers: Walkers) -> Tensor:
        return teacher.towards(walkers.poses.viewpoint, goals[walkers.row]).long()

    return select


def take(actions: Sequence[Sequence[int]]) -> ActionSelector:
    """Selects given actions, decision after decision."""
    script = iter(actions)
    return lambda *_: torch.tensor(next(script))


@pytest.fixture
def float64() -> Iterator[None]:
    """New tensors have double precision."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
