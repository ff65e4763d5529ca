from __future__ import annotations

from builders import walk

from babywalk.assets.fine_grained import FineGrainedWalk, SubInstruction
from babywalk.instructions.agreement import agreement


def marked(texts: list[str], *pieces: list[str]) -> FineGrainedWalk:
    """A walk whose instructions were cut into pieces."""
    return FineGrainedWalk(
        walk("a", [0, 1], 1, texts),
        tuple(tuple(SubInstruction(tuple(piece.split()), 0, 1) for piece in cut) for cut in pieces),
    )


def test_boundaries_by_hand() -> None:
    walks = [
        marked(["Go up. Turn left, stop.", "Wait."], ["go up", "turn left", "stop"], ["wait"]),
        marked(["Exit the room now."], ["exit the", "room now"]),
    ]
    steps = [["Go up.", "Turn left, stop."], ["Wait."], ["Exit the room", "now."]]
    found = agreement(walks, steps)
    assert (found.texts, found.left_out) == (3, 0)
    assert (found.ours, found.theirs, found.both) == (2, 3, 1)
    assert found.precision == 1 / 2
    assert found.recall == 1 / 3
    assert found.f1 == 2 / 5


def test_texts_that_are_not_marked_or_marked_otherwise_are_left_out() -> None:
    walks = [marked(["Go up.", "Go down.", "Stop here."], ["go", "up"], ["go far down"], [])]
    found = agreement(walks, [["Go up."], ["Go down."], ["Stop here."]])
    assert (found.texts, found.left_out, found.theirs) == (1, 1, 1)
