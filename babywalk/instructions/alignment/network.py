"""The scores of text against path: what a piece says, and what walking there and looking around is like.

A piece of text is a bag of words, a state of a path a vector; their product says how well they go together.
Three such products, of the edges that a piece covers and of the states where it begins and ends, and a
score for how many edges it covers, are the potentials of a segmentation.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from babywalk.instructions.alignment.walking import EDGE_WIDTH, STATE_WIDTH


class Vectors(NamedTuple):
    """Of pieces or of states: what is compared when a piece covers an edge, ends or begins. Each (..., D)."""

    edge: Tensor
    end: Tensor
    begin: Tensor


class Matcher(nn.Module):
    """Vectors of pieces and of states. Shapes: P pieces, S states, D numbers per vector, K spans."""

    def __init__(
        self, words: int, sights: int, *, width: int, hidden: int, spans: int, dropout: float
    ) -> None:
        super().__init__()
        self.width, self.spans = width, spans
        self.words = nn.EmbeddingBag(words, 3 * width + spans, mode="sum")
        nn.init.normal_(self.words.weight, std=0.05)
        nn.init.zeros_(self.words.weight[:, 3 * width :])  # begin without a word's opinion on spans
        self.place = nn.Linear(3, spans)
        nn.init.zeros_(self.place.weight)
        # Most pieces cover an edge or two, few none or many.
        self.place.bias.data = -0.6 * (torch.arange(spans) - 1.0).abs()
        self.on_edge = nn.Linear(EDGE_WIDTH, width)
        self.at_state = nn.Linear(STATE_WIDTH, 2 * width)
        self.seen = _looking(sights, hidden, 3 * width, dropout) if sights else None

    def pieces(
        self,
        words: Tensor,  # (W,) the words of all pieces, one after another
        first: Tensor,  # (P,) where each piece begins among them
        counts: Tensor,  # (P,) how many words each has
    ) -> tuple[Vectors, Tensor]:  # vectors, (P, K) scores of spans before the place in the text is known
        """What pieces of text say."""
        bag = self.words(words, first) / counts.clamp(min=1).sqrt()[:, None]
        edge, end, begin, span = bag.split([self.width] * 3 + [self.spans], dim=1)
        return Vectors(edge, end, begin), span

    def span_scores(
        self,
        said: Tensor,  # (Q, K)
        place: Tensor,  # (Q, 3) whether it is the first, the last, and how long it is
    ) -> Tensor:  # (Q, K) log-probabilities of covering 0, 1, ... edges
        """How many edges a piece covers."""
        return torch.log_softmax(said + self.place(place), dim=1)

    def pairs(self, sights: Tensor) -> Tensor:  # (P, sights) -> (P, 3 D)
        """What moves between two viewpoints look like."""
        if self.seen is None:  # blind
            return sights.new_zeros(len(sights), 3 * self.width)
        seen: Tensor = self.seen(sights)
        return seen

    def states(
        self,
        edge: Tensor,  # (S, EDGE_WIDTH)
        state: Tensor,  # (S, STATE_WIDTH)
        leaving: Tensor,  # (S, 3 D) of the pair that leaves the state
        arriving: Tensor,  # (S, 3 D) of the pair that arrives there
    ) -> Vectors:
        """What states of paths and the edges that leave them are like."""
        end, begin = self.at_state(state).chunk(2, dim=1)
        seen_edge = leaving[:, : self.width]
        _, seen_end, seen_begin = arriving.chunk(3, dim=1)
        return Vectors(self.on_edge(edge) + seen_edge, end + seen_end, begin + seen_begin)


def _looking(width: int, hidden: int, out: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(
        nn.Dropout(dropout), nn.Linear(width, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, out)
    )
