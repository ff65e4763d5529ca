from __future__ import annotations

import torch

from babywalk.policies.parts.readers import Readers
from babywalk.policies.parts.text import Text


def text(count: int = 4) -> Text:
    torch.manual_seed(0)
    padding = torch.arange(3) >= torch.tensor([3, 2, 1, 3])[:count, None]
    words = torch.randn(count, 3, 5, dtype=torch.float64, requires_grad=True)
    return Text(words, padding, torch.randn(count, 5, dtype=torch.float64), padding.long())


def check(readers: Readers, rows: list[int], words: torch.Tensor) -> None:
    """As if each walker had a copy of its text."""
    own = words[rows]
    query = torch.randn(len(rows), 5, dtype=torch.float64)
    scores = readers.compared(query)
    assert torch.allclose(scores, torch.einsum("bld,bd->bl", own, query))
    mixed, expected = readers.mixed(scores), torch.einsum("bld,bl->bd", own, scores)
    assert torch.allclose(mixed, expected)
    assert torch.equal(readers.padding, text().padding[rows])
    gradients = [
        torch.autograd.grad(value.square().sum(), words, retain_graph=True)[0] for value in (mixed, expected)
    ]
    assert torch.allclose(*gradients)


def test_several_read_the_same_text_and_some_leave() -> None:
    read = text()
    readers = Readers.of(read, copies=2)
    check(readers, [0, 0, 1, 1, 2, 2, 3, 3], read.words)
    fewer = readers[torch.tensor([0, 1, 3, 6])]
    check(fewer, [0, 0, 1, 3], read.words)
    assert fewer.text is read
    fewest = fewer[torch.tensor([1, 3])]
    check(fewest, [0, 3], read.words)
    assert len(fewest.text) == 2  # what nobody reads any more was put away
    check(fewest[torch.tensor([1])], [3], read.words)


def test_without_gradients_words_are_used_as_they_are() -> None:
    with torch.inference_mode():
        readers = Readers.of(text(), copies=3)
        assert readers.ledgers is None
        query = torch.ones(12, 5, dtype=torch.float64)
        assert torch.allclose(readers.compared(query), readers.text.words.sum(dim=2).repeat_interleave(3, 0))
