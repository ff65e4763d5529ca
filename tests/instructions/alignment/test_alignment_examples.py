from __future__ import annotations

import pytest
from builders import placed, walk

from babywalk.assets.fine_grained import FineGrainedWalk, SubInstruction
from babywalk.buildings.houses import Houses
from babywalk.common.ragged import Ragged
from babywalk.episodes.task import Task
from babywalk.instructions.alignment.examples import (
    clauses,
    examples_from_annotations,
    examples_from_babysteps,
    examples_from_walks,
    stem,
    stems,
    walk_boundaries,
)
from babywalk.instructions.babysteps import BabySteps


def test_texts_of_walks_are_cut_into_clauses(houses: Houses) -> None:
    examples = examples_from_walks(
        placed(
            houses,
            walk("a", [0, 1, 2], 1, ["Leave the room. Go up the stairs and stop at the top.", "Wait."]),
        )
    )
    assert [" ".join(examples.texts[piece]) for piece in examples.pieces[0]] == [
        "leave the room",
        "go up the stairs",
        "and stop at the top",
    ]
    assert examples.path_of.tolist() == [0, 0]
    assert examples.states.tolist() == [3, 3]
    assert examples.word_counts[0].tolist() == [3, 4, 5]


def test_walk_boundaries_of_a_chain(task: Task) -> None:
    assert task.chain.tolist() == [[0, 1]]
    assert task.paths[0].tolist() == [0, 1, 2, 3, 4, 5]
    goal, start = walk_boundaries(task)
    assert (goal.tolist(), start.tolist()) == ([[2]], [[3]])


def test_ends_of_steps_are_those_of_their_last_clauses(steps: BabySteps) -> None:
    examples = examples_from_babysteps(steps)
    assert examples.earliest is None
    assert examples.pieces.lengths.tolist() == [6]
    assert examples.ends_step.tolist() == [True, False, True, False, True, True]
    ends = examples.step_ends(Ragged.of([[0, 1, 2, 3, 4, 5]]))
    assert ends[0].tolist() == [0, 2, 4, 5]


def test_joints_limit_where_the_text_of_a_walk_ends(steps: BabySteps) -> None:
    examples = examples_from_babysteps(steps, joints=True)
    assert examples.earliest is not None
    assert examples.latest is not None
    assert examples.earliest.tolist() == [0, 0, 2, 0, 0, 0]
    assert examples.latest.tolist() == [5, 5, 3, 5, 5, 5]


def test_annotated_sub_instructions(houses: Houses) -> None:
    parts = (SubInstruction(("go",), 0, 1), SubInstruction(("and", "stop"), 1, 2))
    examples, truth = examples_from_annotations(
        [FineGrainedWalk(walk("a", [3, 4, 5], 7, ["Go and stop.", "Not annotated."]), (parts, ()))], houses
    )
    assert len(examples) == 1
    assert examples.paths[0].tolist() == [3, 4, 5]
    assert truth[0].tolist() == [1, 2]
    assert examples.word_counts[0].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("word", "root"),
    [
        ("stairs", "stair"),
        ("walking", "walk"),
        ("stopping", "stop"),
        ("closed", "clos"),
        ("close", "clos"),
        ("hall", "hall"),
        ("glass", "glass"),
        ("go", "go"),
        ("bed", "bed"),
    ],
)
def test_stem_removes_endings(word: str, root: str) -> None:
    assert stem(word) == root


def test_stems_leave_out_punctuation() -> None:
    assert stems(["turn", ",", "left", "..."]) == ("turn", "left")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Walk up the stairs. Stop.", ["walk up the stairs stop"]),
        ("Exit the bedroom, cross the room and stop near the divider.",
         ["exit the bedroom", "cross the room", "and stop near the divider"]),
        ("Go past the table and chairs then turn left", ["go past the table and chairs", "then turn left"]),
        ("Turn left, walk out", ["turn left walk out"]),
        ("Turn left. Walk on!", ["turn left", "walk on"]),
        ("...", [""]),
        ("", [""]),
    ],
)  # fmt: skip
def test_a_clause_describes_one_move(text: str, expected: list[str]) -> None:
    assert [" ".join(clause) for clause in clauses(text)] == expected
