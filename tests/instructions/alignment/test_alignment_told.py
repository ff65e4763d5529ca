from __future__ import annotations

import numpy as np
import pytest
from builders import corridor, placed, walk

from babywalk.assets.fine_grained import FineGrainedWalk, SubInstruction
from babywalk.buildings.houses import Houses
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.ragged import Ragged
from babywalk.episodes.joining import joint
from babywalk.episodes.task import Task, join_task
from babywalk.instructions.alignment.aligning import align
from babywalk.instructions.alignment.alignment_examples import (
    examples_from_babysteps,
    examples_from_people,
    examples_from_walks,
    meetings,
)
from babywalk.instructions.alignment.evaluation import evaluate_alignment
from babywalk.instructions.babysteps import BabySteps
from babywalk.instructions.identification import IdentificationConfig, identify
from babywalk.instructions.segmented import SegmentedTexts
from babywalk.instructions.sentences import Sentence, spans

TEXTS = ("Leave the room. Go up the stairs and stop at the top.", "Go straight on, then turn left. Wait.")


@pytest.fixture
def houses() -> Houses:
    return Houses.of([corridor("a", 8)])


@pytest.fixture
def task(houses: Houses) -> Task:
    """Two walks of one text each, the second from one edge after the first one's end."""
    walks = placed(houses, walk("a", [0, 1, 2], 1, TEXTS[:1]), walk("a", [3, 4, 5], 2, TEXTS[1:]))
    return join_task("r4r", "train", houses, walks, joint("r4r"), seed=None)


@pytest.fixture
def steps(task: Task) -> BabySteps:
    """Every sentence a step."""
    found = SegmentedTexts.of([[Sentence(*span) for span in spans(text)] for text in TEXTS], frozenset())
    rows = found.of_episodes(task, np.arange(len(task)))
    return BabySteps(task, found, identify(found.table, rows, IdentificationConfig(mode="sentence")))


def test_texts_of_walks_clause_by_clause(houses: Houses) -> None:
    told = examples_from_walks(placed(houses, walk("a", [0, 1, 2], 1, TEXTS)))
    assert [" ".join(told.texts[piece]) for piece in told.pieces[0]] == [
        "leave the room",
        "go up the stairs",
        "and stop at the top",
    ]
    assert told.path_of.tolist() == [0, 0]
    assert told.states.tolist() == [3, 3]
    assert told.word_counts[0].tolist() == [3, 4, 5]


def test_where_walks_of_a_chain_meet(task: Task) -> None:
    assert task.chain.tolist() == [[0, 1]]
    assert task.paths[0].tolist() == [0, 1, 2, 3, 4, 5]
    goal, start = meetings(task)
    assert (goal.tolist(), start.tolist()) == ([[2]], [[3]])


def test_clauses_of_baby_steps(steps: BabySteps) -> None:
    told = examples_from_babysteps(steps)
    assert told.earliest is None
    assert told.pieces.lengths.tolist() == [6]
    assert told.closes.tolist() == [True, False, True, False, True, True]
    ends = told.at_steps(Ragged.of([[0, 1, 2, 3, 4, 5]]))
    assert ends[0].tolist() == [0, 2, 4, 5]


def test_joints_tell_where_a_walk_ends(steps: BabySteps) -> None:
    told = examples_from_babysteps(steps, joints=True)
    assert told.earliest is not None
    assert told.latest is not None
    assert told.earliest.tolist() == [0, 0, 2, 0, 0, 0]
    assert told.latest.tolist() == [5, 5, 3, 5, 5, 5]


def test_sub_instructions_of_people(houses: Houses) -> None:
    parts = (SubInstruction(("go",), 0, 1), SubInstruction(("and", "stop"), 1, 2))
    told, truth = examples_from_people(
        [FineGrainedWalk(walk("a", [3, 4, 5], 7, ["Go and stop.", "Not annotated."]), (parts, ()))], houses
    )
    assert len(told) == 1
    assert told.paths[0].tolist() == [3, 4, 5]
    assert truth[0].tolist() == [1, 2]
    assert told.word_counts[0].tolist() == [1, 2]


def test_shares_are_of_inner_ends() -> None:
    truth = Ragged.of([[1, 3, 5], [4], [2, 5]])
    placed_at = evaluate_alignment(Ragged.of([[1, 4, 5], [4], [0, 5]]), truth)
    assert (placed_at.exact, placed_at.within_one, placed_at.ends) == (1 / 3, 2 / 3, 3)


def test_what_cannot_be_compared() -> None:
    with pytest.raises(DataError, match="different steps"):
        evaluate_alignment(Ragged.of([[1, 2]]), Ragged.of([[2]]))
    with pytest.raises(DataError, match="No episode has two steps"):
        evaluate_alignment(Ragged.of([[1]]), Ragged.of([[1]]))


def test_aligning_by_words_alone(steps: BabySteps) -> None:
    aligned = align(steps, method="proportional")
    assert aligned.ends is not None
    assert aligned.ends[0].tolist() == [1, 3, 5, 5]  # 3, 12, 18 and 19 of 19 words along 5 edges
    assert [step.text for step in aligned.steps(0)][-1] == "Wait."


def test_methods_that_lack_something(steps: BabySteps) -> None:
    with pytest.raises(ConfigError, match=r"'bset' is not known. Did you mean 'best'\?"):
        align(steps, method="bset")
    with pytest.raises(ConfigError, match="'best' needs an aligner and view features"):
        align(steps)
    with pytest.raises(ConfigError, match="'paper' needs a landmark classifier and view features"):
        align(steps, method="paper")
    with pytest.raises(ConfigError, match="joints = true works with method 'best' alone"):
        align(steps, method="paper", joints=True)
