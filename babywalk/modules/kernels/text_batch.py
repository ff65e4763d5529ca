"""Walkers who read, several of them the same text: words are compared and mixed without a copy for each.

The words are a matrix per text that is used at every move, and they too learn in one go. Texts lie in
blocks of about the same length, so that one long text does not make long rows of blanks of all short ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from babywalk.modules.kernels.deferred_gradients import GradientAccumulator
from babywalk.modules.text_encoder import EncodedText, Text

_SHORT = 8  # words; texts up to here make one block


@dataclass(frozen=True, slots=True, eq=False)
class TextBatch:
    """Every text has as many seats as it had walkers at first; who has stopped leaves a seat empty.

    Shapes: B walkers, R texts, the longest first, C seats for each, L words, D hidden units.
    """

    blocks: tuple[Text, ...]  # R texts in all
    ledgers: tuple[
        tuple[GradientAccumulator, GradientAccumulator] | None, ...
    ]  # words as rows and as columns; None without gradients
    lengths: Tensor  # (R,) words
    summary: Tensor  # (R, D)
    copies: int  # C
    seats: Tensor  # (B,) below R C

    @classmethod
    def of(cls, reading: EncodedText, which: Tensor | None = None, copies: int = 1) -> TextBatch:
        """Of some texts (R,), or of all; the walkers of the first come first. All seats are taken."""
        which = torch.arange(len(reading.lengths)) if which is None else which
        order = reading.lengths[which].argsort(descending=True, stable=True)
        sorted_texts = which[order]
        lengths = reading.lengths[sorted_texts]
        blocks = tuple(reading[some] for some in sorted_texts.split_with_sizes(_alike(lengths)))
        seats = (order.argsort()[:, None] * copies + torch.arange(copies)).flatten()
        summary = reading.summary.index_select(0, sorted_texts)
        return cls(blocks, _ledgers(blocks), lengths, summary, copies, seats)

    def __len__(self) -> int:
        return len(self.seats)

    def __getitem__(self, which: Tensor) -> TextBatch:
        seats = self.seats[which]
        read = torch.bincount(seats // self.copies, minlength=len(self.lengths)) > 0
        # Texts that nobody reads any more are put away when they are the most: each time costs a copy.
        if 2 * int(read.sum()) > len(self.lengths):
            return replace(self, seats=seats)
        place = read.cumsum(0) - 1
        parts = zip(self.blocks, read.split_with_sizes([len(block) for block in self.blocks]), strict=True)
        blocks = tuple(block[some.nonzero()[:, 0]] for block, some in parts if some.any())
        return TextBatch(
            blocks,
            _ledgers(blocks),
            self.lengths[read],
            self.summary.index_select(0, read.nonzero()[:, 0]),
            self.copies,
            place[seats // self.copies] * self.copies + seats % self.copies,
        )

    @property
    def rows(self) -> Tensor:
        """(B,) the text that each walker reads."""
        return self.seats // self.copies

    @property
    def most_words(self) -> int:
        """L; texts longer than any that is left may have made room."""
        return self.blocks[0].words.shape[1]

    @property
    def padding(self) -> Tensor:
        """(B, L) bool, True where there is no word."""
        return torch.arange(self.most_words) >= self.lengths[self.rows][:, None]

    def compared(self, query: Tensor) -> Tensor:
        """(B, L) the products of each walker's query (B, D) with its words."""
        found = [
            ledgers[0].use(wanted) if ledgers else wanted @ block.words.mT
            for block, ledgers, wanted in zip(self.blocks, self.ledgers, self._seated(query), strict=True)
        ]
        most = self.most_words
        return self._risen([nn.functional.pad(score, (0, most - score.shape[2])) for score in found])

    def mixed(self, weights: Tensor) -> Tensor:
        """(B, D) the sum of each walker's words by its weights (B, L)."""
        return self._risen(
            [
                ledgers[1].use(share) if ledgers else share @ block.words
                for block, ledgers, share in zip(
                    self.blocks, self.ledgers, self._shares(weights), strict=True
                )
            ]
        )

    def gathered(self, weights: Tensor, vectors: Callable[[Tensor], Tensor]) -> Tensor:
        """(B, X) the sum of other vectors of each walker's words, ones that are not learned.

        `vectors` makes (r, l, X) of word numbers (r, l).
        """
        shares = zip(self.blocks, self._shares(weights), strict=True)
        return self._risen([share @ vectors(block.tokens) for block, share in shares])

    def _shares(self, weights: Tensor) -> list[Tensor]:
        """Weights (B, L) of words by block (r, C, l)."""
        seated = zip(self.blocks, self._seated(weights), strict=True)
        return [share[..., : block.words.shape[1]] for block, share in seated]

    def _seated(self, values: Tensor) -> list[Tensor]:
        """Values (B, X) by block (r, C, X), zero in empty seats."""
        seats = len(self.lengths) * self.copies
        values = values.new_zeros(seats, values.shape[1]).index_copy(0, self.seats, values)
        sizes = [len(block) * self.copies for block in self.blocks]
        return [part.view(-1, self.copies, part.shape[1]) for part in values.split_with_sizes(sizes)]

    def _risen(self, values: list[Tensor]) -> Tensor:
        """(B, X) of the walkers, from blocks (r, C, X) of seats."""
        return torch.cat([part.flatten(0, 1) for part in values]).index_select(0, self.seats)


def _alike(lengths: Tensor) -> list[int]:
    """The sizes of blocks: of lengths (R,) that fall, those above half of the first, and so on."""
    sizes: list[int] = []
    left = lengths.tolist()
    while left:
        size = sum(length > left[0] // 2 for length in left) if left[0] > _SHORT else len(left)
        sizes.append(size)
        left = left[size:]
    return sizes


def _ledgers(blocks: tuple[Text, ...]) -> tuple[tuple[GradientAccumulator, GradientAccumulator] | None, ...]:
    learned = torch.is_grad_enabled() and any(block.words.requires_grad for block in blocks)
    return tuple(
        (GradientAccumulator(block.words), GradientAccumulator(block.words.mT)) if learned else None
        for block in blocks
    )
