from __future__ import annotations

import numpy as np
import pytest
import torch

from babywalk.modules.lexical_match import LexicalMatch, codes_for, kinds_of
from babywalk.modules.text_encoder import EncodedText, TextBatch

COLUMNS = ("objects sofa", "objects lamp", "objects group seating", "objects far sofa", "objects walk_up")


def test_kind_of_a_column_is_given_by_its_name() -> None:
    assert kinds_of(COLUMNS).argmax(axis=1).tolist() == [0, 0, 1, 2, 3]
    assert kinds_of(COLUMNS).sum(axis=1).tolist() == [1] * 5


def test_codes_match_words_with_columns_of_the_same_meaning() -> None:
    numbers = {word: row for row, word in enumerate(["the", "sofa", "couch", "lamp", "seating"])}
    vectors = np.random.default_rng(0).normal(size=(5, 30)).astype(np.float32)
    vectors[2] = vectors[1] + 0.1  # a couch is a sofa
    words, columns = codes_for(vectors, numbers, COLUMNS, 8)
    similarity = words @ columns.T
    assert words.shape == (5, 8)
    assert similarity[numbers["couch"]].argmax() in (0, 3)
    assert similarity[numbers["lamp"]].argmax() == 1
    assert similarity[numbers["couch"], 0] == similarity[numbers["couch"], 3]  # the same thing, near and far
    assert not columns[4].any()  # no word of the vocabulary


class _Observation:
    """Features of three actions (STOP first) and of two views."""

    actions = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    views = torch.tensor([[1.0, 0.0], [0.0, 0.0]])

    def match_views(self, query: torch.Tensor) -> torch.Tensor:
        return query @ self.views.T

    def match_candidates(self, query: torch.Tensor) -> torch.Tensor:
        return query @ self.actions.T


def test_an_action_scores_by_the_attended_words_that_name_what_it_shows() -> None:
    match = LexicalMatch(("x sofa", "x lamp"), words=3, code=2, hidden=4)
    match.columns.copy_(torch.eye(2))
    match.words.weight.data.copy_(torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    nothing = torch.zeros(1, 4)
    encoded = EncodedText(torch.zeros(2, 4), torch.tensor([2]), nothing, torch.tensor([1, 2]), nothing)
    text = TextBatch.of(encoded, torch.tensor([0]))
    weights = torch.tensor([[0.75, 0.25]])  # three quarters "sofa", a quarter "lamp"
    found = match(torch.randn(1, 4), weights, text, _Observation())
    # STOP: mean (0.75 / 2) and maximum (0.75) of the views; then the sofa, then two lamps.
    assert found[0].tolist() == pytest.approx([0.375 + 0.75, 0.75, 0.5])
