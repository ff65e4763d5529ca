"""`SharedTextBatch` against `TextBatch`, which has a copy of its text for each walker."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from babywalk.modules.kernels.text_batch import SharedTextBatch
from babywalk.modules.text_encoder import EncodedText, TextBatch

LENGTHS = [3, 20, 1, 15]
ALL = torch.arange(len(LENGTHS))


def encoded() -> EncodedText:
    torch.manual_seed(0)
    words = torch.randn(sum(LENGTHS), 5, dtype=torch.float64, requires_grad=True)
    summary = torch.randn(len(LENGTHS), 5, dtype=torch.float64, requires_grad=True)
    cell = torch.randn(len(LENGTHS), 5, dtype=torch.float64)
    return EncodedText(words, torch.tensor(LENGTHS), summary, torch.arange(sum(LENGTHS)), cell)


def check(shared: SharedTextBatch, rows: Sequence[int], texts: EncodedText) -> None:
    """As if each walker had a copy of its text: values and gradients, for all operations."""
    copied = TextBatch.of(texts, torch.tensor(rows))
    longest = copied.max_words
    assert len(shared) == len(copied) == len(rows)
    assert shared.max_words >= longest
    assert (~shared.padding).sum(dim=1).tolist() == [LENGTHS[row] for row in rows]
    assert torch.equal(shared.padding[:, :longest], copied.padding)
    query = torch.randn(len(rows), 5, dtype=torch.float64)
    scores, expected_scores = shared.match(query), copied.match(query)
    assert torch.allclose(scores[:, :longest], expected_scores)
    assert torch.allclose(expected_scores, torch.einsum("bld,bd->bl", copied.words, query))
    assert not scores[:, longest:].any()
    mixed, expected = shared.mix(scores), copied.mix(expected_scores)
    assert torch.allclose(mixed, expected)
    assert torch.allclose(expected, torch.einsum("bld,bl->bd", copied.words, expected_scores))
    embedded = shared.mix_embeddings(scores, lambda tokens: tokens[..., None].double())
    expected_embedded = copied.mix_embeddings(expected_scores, lambda tokens: tokens[..., None].double())
    assert torch.allclose(embedded, expected_embedded)
    assert torch.allclose(expected_embedded[:, 0], (copied.tokens * expected_scores).sum(dim=1))
    states = shared.per_walker(shared.summary.tanh())
    expected_states = copied.per_walker(copied.summary.tanh())
    assert torch.equal(states, expected_states)
    assert torch.equal(states, texts.summary.tanh()[list(rows)])
    if not texts.words.requires_grad:
        return
    losses = [
        mixed.square().sum() + embedded.sum() + (states * torch.arange(5)).sum()
        for mixed, embedded, states in (
            (mixed, embedded, states),
            (expected, expected_embedded, expected_states),
        )
    ]
    gradients = [
        torch.autograd.grad(loss, [texts.words, texts.summary], retain_graph=True) for loss in losses
    ]
    assert all(torch.allclose(one, two) for one, two in zip(*gradients, strict=True))


def test_walkers_share_texts_and_finished_ones_leave() -> None:
    texts = encoded()
    shared = SharedTextBatch.of(texts, ALL, copies=2)
    check(shared, [0, 0, 1, 1, 2, 2, 3, 3], texts)
    fewer = shared[torch.tensor([0, 1, 3, 6])]
    check(fewer, [0, 0, 1, 3], texts)
    assert fewer.blocks is shared.blocks
    fewest = fewer[torch.tensor([1, 3])]
    check(fewest, [0, 3], texts)
    assert len(fewest.lengths) == 2  # texts without readers were removed
    check(fewest[torch.tensor([1])], [3], texts)


def test_texts_may_be_chosen_in_any_order_and_repeatedly() -> None:
    texts = encoded()
    check(SharedTextBatch.of(texts, torch.tensor([2, 3, 2])), [2, 3, 2], texts)


@pytest.mark.parametrize("copies", [1, 2, 3])
@pytest.mark.parametrize("gradients", [True, False])
def test_forked_walkers_have_slots_of_their_own(copies: int, gradients: bool) -> None:
    """Fork, fork again, and drop most: in any order, with texts that have no readers left."""
    with torch.set_grad_enabled(gradients):
        texts = encoded()
        if not gradients:
            texts.words.requires_grad_(False)
        shared = SharedTextBatch.of(texts, ALL, copies=copies)
        rows = ALL.repeat_interleave(copies)
        many = [0, 0, 0, len(rows) - 1, 1, 0, len(rows) - 1]
        for chosen in (many, [6, 6, 5, 2, 2, 2, 0], [1, 0, 1, 6, 6, 6, 6, 6], [7, 7, 0], [2, 1, 0, 1]):
            shared, rows = shared[torch.tensor(chosen)], rows[chosen]
            assert len(shared.slots.unique()) == len(chosen)
            check(shared, rows.tolist(), texts)


def test_forking_before_and_after_texts_are_removed() -> None:
    """Copies of one text only, of four: the others are removed in the same indexing."""
    texts = encoded()
    shared = SharedTextBatch.of(texts, ALL, copies=2)
    forked = shared[torch.tensor([6, 6, 7])]  # two copies of one walker, and the other walker of its text
    check(forked, [3, 3, 3], texts)
    assert len(forked.lengths) == 1
    check(forked[torch.tensor([2, 0, 0, 1])], [3] * 4, texts)


def test_no_walkers_are_left() -> None:
    shared = SharedTextBatch.of(encoded(), ALL)[torch.empty(0, dtype=torch.int64)]
    assert len(shared) == 0


def test_a_block_has_texts_of_similar_length() -> None:
    blocks = SharedTextBatch.of(encoded(), ALL).blocks
    # 15 is more than half of 20, 3 is not; short texts share a block.
    assert [tuple(block.words.shape[:2]) for block in blocks] == [(2, 20), (2, 3)]
    padding = [int((block.words == 0).all(dim=2).sum()) for block in blocks]
    assert padding == [5, 2]


def test_without_gradients_words_have_no_accumulators() -> None:
    with torch.inference_mode():
        texts = encoded()
        shared = SharedTextBatch.of(texts, ALL, copies=3)
        assert all(block.accumulators is None for block in shared.blocks)
        query = torch.ones(12, 5, dtype=torch.float64)
        expected = TextBatch.of(texts, ALL).words.sum(dim=2).repeat_interleave(3, 0)
        assert torch.allclose(shared.match(query), expected)
