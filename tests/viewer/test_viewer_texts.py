"""Where Baby-Steps, landmarks and words are in an instruction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babywalk.assets.tokens import tokenise
from babywalk.episodes.dataset import Dataset
from babywalk.instructions.store import identify_steps
from babywalk.viewer.texts import cut_episode, landmark_spans, token_spans


def test_tokens_are_where_they_stand_in_the_text() -> None:
    text = "Go. Turn left... then GO, on."
    spans = token_spans(text, 4, len(text))
    assert [text[begin:end] for begin, end in spans] == ["Turn", "left", "...", "then", "GO", ",", "on", "."]


@given(st.text(max_size=60))
def test_every_token_has_one_span_in_order(text: str) -> None:
    spans = token_spans(text, 0, len(text))
    assert len(spans) == len(tokenise(text))
    assert [side for span in spans for side in span] == sorted(side for span in spans for side in span)


def test_landmarks_are_found_by_their_lemmas_inside_the_step_only() -> None:
    text = "Pass the chairs. Stop at the dining room table near the chairs."
    begin = text.index("Stop")
    found = landmark_spans(text, begin, len(text), ["dining room table", "chair"])
    assert [text[a:b] for a, b in found] == ["dining", "room", "table", "chairs"]
    assert min(found)[0] > begin


@pytest.mark.parametrize("name", ["r2r", "r4r"])
def test_steps_of_stored_episodes_cover_the_instruction(aligned_dollhouse: Path, name: str) -> None:
    dataset = Dataset(aligned_dollhouse)
    task = dataset.task(name, "val_seen")
    steps = identify_steps(dataset, task)
    for number in range(0, len(task), 7):
        text = task.instructions(np.array([number]))[0]
        cut = cut_episode(steps, number, text)
        assert " ".join(text[begin:end] for begin, end in cut.steps) == " ".join(text.split())
        assert len(cut.tokens()) == len(cut.steps)
        assert all(text[begin:end].strip() for begin, end in cut.landmarks)
