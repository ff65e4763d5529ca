"""Instructions that are shared by walkers: words are not copied for each walker.

A text is a matrix of word vectors that is used at every move, and its gradient is deferred like that of a
weight. Texts are grouped in blocks of similar length, so that one long text does not pad all others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from babywalk.modules.kernels.deferred_gradients import GradientAccumulator
from babywalk.modules.layers import row_starts
from babywalk.modules.text_encoder import EncodedText

_SHORT = 8  # words; texts up to this length form one block


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Texts of similar length. Shapes: R texts, L words (padded), D hidden units."""

    words: Tensor  # (R, L, D)
    tokens: Tensor  # (R, L) word ids, 0 for padding
    accumulators: tuple[GradientAccumulator, GradientAccumulator] | None  # of words and their transpose

    @classmethod
    def of(cls, words: Tensor, tokens: Tensor) -> _Block:
        """With accumulators where words have gradients."""
        learned = torch.is_grad_enabled() and words.requires_grad
        accumulators = (GradientAccumulator(words), GradientAccumulator(words.mT)) if learned else None
        return cls(words, tokens, accumulators)

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, which: Tensor) -> _Block:
        # index_select: its gradient adds rows, where that of plain indexing adds element by element.
        return _Block.of(self.words.index_select(0, which), self.tokens.index_select(0, which))

    def match(self, query: Tensor) -> Tensor:
        """(R, C, L) from queries (R, C, D)."""
        return self.accumulators[0].use(query) if self.accumulators else query @ self.words.mT

    def mix(self, weights: Tensor) -> Tensor:
        """(R, C, D) from weights (R, C, >= L)."""
        weights = weights[..., : self.words.shape[1]]
        return self.accumulators[1].use(weights) if self.accumulators else weights @ self.words


@dataclass(frozen=True, slots=True, eq=False)
class SharedTextBatch:
    """A `TextBatch` in which every text has C slots, one for each walker that reads it.

    A finished walker leaves its slot empty. Shapes: B walkers, R texts, the longest first, L words, D hidden
    units.
    """

    blocks: tuple[_Block, ...]  # R texts in all
    lengths: Tensor  # (R,) words
    summary: Tensor  # (R, D) u(x)
    copies: int  # C
    slots: Tensor  # (B,) below R C, no two the same: the slot of each walker
    cell: Tensor  # (R, D) the encoder's last cell

    @classmethod
    def of(cls, encoded: EncodedText, which: Tensor, copies: int = 1) -> SharedTextBatch:
        """Of some instructions (R,), each read by `copies` walkers in a row."""
        order = encoded.lengths[which].argsort(descending=True, stable=True)
        texts = which[order]
        lengths = encoded.lengths[texts]
        blocks = tuple(_padded(encoded, some) for some in texts.split_with_sizes(_block_sizes(lengths)))
        copy = torch.arange(copies, device=which.device)
        slots = (order.argsort()[:, None] * copies + copy).flatten()
        summary, cell = (part.index_select(0, texts) for part in (encoded.summary, encoded.cell))
        return cls(blocks, lengths, summary, copies, slots, cell)

    def __len__(self) -> int:
        return len(self.slots)

    def __getitem__(self, which: Tensor) -> SharedTextBatch:
        """Some walkers' instructions; indices may repeat."""
        slots = self.slots[which]
        readers = torch.bincount(slots // self.copies, minlength=len(self.lengths))  # (R,)
        read = readers > 0
        texts, copies = slots // self.copies, self.copies
        if len(slots) and int(torch.bincount(slots).max()) > 1:  # forked walkers need slots of their own
            copies = int(readers.max())
            slots = texts * copies + _rank_within(texts)
        # Texts without readers are removed only when they are the majority: it copies the others.
        if 2 * int(read.sum()) > len(self.lengths):
            return replace(self, slots=slots, copies=copies)
        place = read.cumsum(0) - 1
        parts = zip(self.blocks, read.split_with_sizes([len(block) for block in self.blocks]), strict=True)
        return SharedTextBatch(
            tuple(block[some.nonzero()[:, 0]] for block, some in parts if some.any()),
            self.lengths[read],
            self.summary.index_select(0, read.nonzero()[:, 0]),
            copies,
            place[texts] * copies + slots % copies,
            self.cell.index_select(0, read.nonzero()[:, 0]),
        )

    @property
    def rows(self) -> Tensor:
        """(B,) the text that each walker reads."""
        return self.slots // self.copies

    @property
    def max_words(self) -> int:
        """L; a removed text may have been that long."""
        return self.blocks[0].words.shape[1]

    @property
    def padding(self) -> Tensor:
        """(B, L) bool, True where there is no word."""
        position = torch.arange(self.max_words, device=self.lengths.device)
        return position >= self.lengths[self.rows][:, None]

    def per_walker(self, values: Tensor) -> Tensor:
        """(B, X) of values (R, X) that were computed from `summary` or `cell`."""
        return values.index_select(0, self.rows)

    def match(self, query: Tensor) -> Tensor:
        """(B, L) the dot product of each walker's query (B, D) with its words."""
        scores = [block.match(part) for block, part in zip(self.blocks, self._by_block(query), strict=True)]
        longest = self.max_words
        return self._by_walker([nn.functional.pad(score, (0, longest - score.shape[2])) for score in scores])

    def mix(self, weights: Tensor) -> Tensor:
        """(B, D) the sum of each walker's words with weights (B, L)."""
        parts = zip(self.blocks, self._by_block(weights), strict=True)
        return self._by_walker([block.mix(part) for block, part in parts])

    def mix_embeddings(self, weights: Tensor, embedding: Callable[[Tensor], Tensor]) -> Tensor:
        """(B, X) likewise for a fixed embedding of the word ids, (R, L) -> (R, L, X)."""
        parts = zip(self.blocks, self._by_block(weights), strict=True)
        return self._by_walker(
            [part[..., : block.words.shape[1]] @ embedding(block.tokens) for block, part in parts]
        )

    def _by_block(self, values: Tensor) -> list[Tensor]:
        """Values (B, X) by block (R, C, X), zero in empty slots."""
        count = len(self.lengths) * self.copies
        values = values.new_zeros(count, values.shape[1]).index_copy(0, self.slots, values)
        sizes = [len(block) * self.copies for block in self.blocks]
        return [part.view(-1, self.copies, part.shape[1]) for part in values.split_with_sizes(sizes)]

    def _by_walker(self, values: list[Tensor]) -> Tensor:
        """(B, X) from blocks (R, C, X) of slots."""
        return torch.cat([part.flatten(0, 1) for part in values]).index_select(0, self.slots)


def _padded(encoded: EncodedText, which: Tensor) -> _Block:
    """Some texts, padded to the longest."""
    lengths = encoded.lengths[which]
    position = torch.arange(int(lengths.max()), device=lengths.device)
    shape = len(which), len(position)
    inside = (position < lengths[:, None]).flatten().nonzero()[:, 0]
    chosen = (row_starts(encoded.lengths)[which][:, None] + position).flatten()[inside]
    count = shape[0] * shape[1]
    words = encoded.words.new_zeros(count, encoded.words.shape[1])
    words = words.index_copy(0, inside, encoded.words.index_select(0, chosen))
    tokens = encoded.tokens.new_zeros(count).index_copy(0, inside, encoded.tokens[chosen])
    return _Block.of(words.view(*shape, -1), tokens.view(shape))


def _block_sizes(lengths: Tensor) -> list[int]:
    """Sizes of blocks of falling lengths (R,): those above half of the first, and so on."""
    sizes: list[int] = []
    left = lengths.tolist()
    while left:
        size = sum(length > left[0] // 2 for length in left) if left[0] > _SHORT else len(left)
        sizes.append(size)
        left = left[size:]
    return sizes


def _rank_within(groups: Tensor) -> Tensor:
    """(B,) the number of each element among those of the same group (B,), in order."""
    order = groups.argsort(stable=True)
    counts = torch.bincount(groups)
    rank = torch.empty_like(groups)
    rank[order] = torch.arange(len(groups), device=groups.device) - row_starts(counts)[groups[order]]
    return rank
