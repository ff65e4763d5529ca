from __future__ import annotations

import numpy as np
import pytest
import torch

from babywalk.modules.kernels.text_batch import TextBatch
from babywalk.modules.lexical_match import LexicalMatch, codes_for, kinds_of
from babywalk.modules.text_encoder import EncodedText

COLUMNS = ("objects sofa", "objects lamp", "objects group seating", "objects far sofa", "objects walk_up")


def test_columns_are_of_the_kind_that_their_names_begin_with() -> None:
    assert kinds_of(COLUMNS).argmax(axis=1).tolist() == [0, 0, 1, 2, 3]
    assert kinds_of(COLUMNS).sum(axis=1).tolist() == [1] * 5


def test_codes_tell_which_word_means_which_column() -> None:
    numbers = {word: row for row, word in enumerate(["the", "sofa", "couch", "lamp", "seating"])}
    vectors = np.random.default_rng(0).normal(size=(5, 30)).astype(np.float32)
    vectors[2] = vectors[1] + 0.1  # a couch is a sofa
    words, columns = codes_for(vectors, numbers, COLUMNS, 8)
    likeness = words @ columns.T
    assert words.shape == (5, 8)
    assert likeness[numbers["couch"]].argmax() in (0, 3)
    assert likeness[numbers["lamp"]].argmax() == 1
    assert likeness[numbers["couch"], 0] == likeness[numbers["couch"], 3]  # the same thing, near and far
    assert not columns[4].any()  # no word of the vocabulary


class _Shown:
    """Features of three actions (STOP first) and of two views around."""

    actions = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    views = torch.tensor([[1.0, 0.0], [0.0, 0.0]])

    def around(self, query: torch.Tensor) -> torch.Tensor:
        return query @ self.views.T

    def compare_features(self, query: torch.Tensor) -> torch.Tensor:
        return query @ self.actions.T


def test_an_action_is_worth_what_it_shows_of_the_words_that_are_read() -> None:
    likeness = LexicalMatch(("x sofa", "x lamp"), words=3, code=2, hidden=4)
    likeness.columns.copy_(torch.eye(2))
    likeness.words.weight.data.copy_(torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    told = EncodedText(torch.zeros(2, 4), torch.tensor([2]), torch.zeros(1, 4), torch.tensor([1, 2]))
    weights = torch.tensor([[0.75, 0.25]])  # three quarters "sofa", a quarter "lamp"
    found = likeness(torch.randn(1, 4), weights, TextBatch.of(told), _Shown())
    # STOP: mean (0.75 / 2) and highest (0.75) of the views around; then the sofa, then two lamps.
    assert found[0].tolist() == pytest.approx([0.375 + 0.75, 0.75, 0.5])
