from __future__ import annotations

import torch

from babywalk.modules.kernels.text_batch import TextBatch
from babywalk.modules.text_encoder import EncodedText

LENGTHS = [3, 20, 1, 15]


def reading() -> EncodedText:
    torch.manual_seed(0)
    words = torch.randn(sum(LENGTHS), 5, dtype=torch.float64, requires_grad=True)
    summary = torch.randn(len(LENGTHS), 5, dtype=torch.float64)
    return EncodedText(words, torch.tensor(LENGTHS), summary, torch.arange(sum(LENGTHS)))


def check(readers: TextBatch, rows: list[int], read: EncodedText) -> None:
    """As if each walker had a copy of its text."""
    own = read[torch.tensor(rows)].words
    longest = own.shape[1]
    query = torch.randn(len(rows), 5, dtype=torch.float64)
    scores = readers.compared(query)
    assert torch.allclose(scores[:, :longest], torch.einsum("bld,bd->bl", own, query))
    assert not scores[:, longest:].any()
    mixed, expected = readers.mixed(scores), torch.einsum("bld,bl->bd", own, scores[:, :longest])
    assert torch.allclose(mixed, expected)
    numbers = readers.gathered(scores, lambda tokens: tokens[..., None].double())
    tokens = read[torch.tensor(rows)].tokens.double()
    assert torch.allclose(numbers[:, 0], (tokens * scores[:, :longest]).sum(dim=1))
    assert (~readers.padding).sum(dim=1).tolist() == [LENGTHS[row] for row in rows]
    assert torch.equal(readers.summary[readers.rows], read.summary[rows])
    gradients = [
        torch.autograd.grad(value.square().sum(), read.words, retain_graph=True)[0]
        for value in (mixed, expected)
    ]
    assert torch.allclose(*gradients)


def test_several_read_the_same_text_and_some_leave() -> None:
    read = reading()
    readers = TextBatch.of(read, copies=2)
    check(readers, [0, 0, 1, 1, 2, 2, 3, 3], read)
    fewer = readers[torch.tensor([0, 1, 3, 6])]
    check(fewer, [0, 0, 1, 3], read)
    assert fewer.blocks is readers.blocks
    fewest = fewer[torch.tensor([1, 3])]
    check(fewest, [0, 3], read)
    assert len(fewest.lengths) == 2  # what nobody reads any more was put away
    check(fewest[torch.tensor([1])], [3], read)


def test_some_texts_in_any_order() -> None:
    read = reading()
    check(TextBatch.of(read, torch.tensor([2, 3, 2])), [2, 3, 2], read)


def test_a_block_has_texts_of_about_one_length() -> None:
    blocks = TextBatch.of(reading()).blocks
    # 15 is more than half of 20, 3 is not; short ones lie together.
    assert [tuple(block.words.shape[:2]) for block in blocks] == [(2, 20), (2, 3)]
    blanks = [int((block.words == 0).all(dim=2).sum()) for block in blocks]
    assert blanks == [5, 2]


def test_without_gradients_words_are_used_as_they_are() -> None:
    with torch.inference_mode():
        read = reading()
        readers = TextBatch.of(read, copies=3)
        assert not any(readers.ledgers)
        query = torch.ones(12, 5, dtype=torch.float64)
        expected = read[torch.arange(4)].words.sum(dim=2).repeat_interleave(3, 0)
        assert torch.allclose(readers.compared(query), expected)
