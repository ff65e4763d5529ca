from __future__ import annotations

from builders import walk

from babywalk.assets.fine_grained import FineGrainedWalk, SubInstruction
from babywalk.instructions.agreement import agreement


def annotated(texts: list[str], *pieces: list[str]) -> FineGrainedWalk:
    """A walk whose instructions were annotated with sub-instructions."""
    return FineGrainedWalk(
        walk("a", [0, 1], 1, texts),
        tuple(tuple(SubInstruction(tuple(piece.split()), 0, 1) for piece in parts) for parts in pieces),
    )


def test_boundaries_of_a_worked_example() -> None:
    walks = [
        annotated(["Go up. Turn left, stop.", "Wait."], ["go up", "turn left", "stop"], ["wait"]),
        annotated(["Exit the room now."], ["exit the", "room now"]),
    ]
    steps = [["Go up.", "Turn left, stop."], ["Wait."], ["Exit the room", "now."]]
    found = agreement(walks, steps)
    assert (found.texts, found.left_out) == (3, 0)
    assert (found.ours, found.theirs, found.both) == (2, 3, 1)
    assert found.precision == 1 / 2
    assert found.recall == 1 / 3
    assert found.f1 == 2 / 5


def test_texts_without_annotation_or_with_other_words_are_left_out() -> None:
    walks = [annotated(["Go up.", "Go down.", "Stop here."], ["go", "up"], ["go far down"], [])]
    found = agreement(walks, [["Go up."], ["Go down."], ["Stop here."]])
    assert (found.texts, found.left_out, found.theirs) == (1, 1, 1)
