"""The learned aligner: a network that scores text against path, and the ends of steps by its scores.

A piece of text is a bag of words, a state of a path a vector; their dot product is how well they match.
Three such products (of the edges that a piece covers, of the state where it begins and of the state where it
ends) and a score for the number of edges that it covers are the potentials of a segmentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from babywalk.assets.data_directory import StoredComponent, component
from babywalk.assets.records import Record
from babywalk.buildings.features import ViewFeatures
from babywalk.buildings.houses import Houses
from babywalk.common.array_files import check_range, read_array
from babywalk.common.config import check_at_least_one, check_fraction_below_one, from_table
from babywalk.common.errors import ConfigError
from babywalk.common.files import read_json, write_json
from babywalk.common.fitting import DEVICE
from babywalk.common.ragged import Ragged
from babywalk.common.weights import check_sizes, load_state, read_tensors, write_tensors
from babywalk.instructions.alignment.examples import AlignmentExamples
from babywalk.instructions.alignment.features import (
    EDGE_WIDTH,
    STATE_WIDTH,
    Lexicon,
    PathFeatures,
    move_views,
    unique_moves,
)
from babywalk.instructions.alignment.segmentation import Potentials, best_ends, buckets

_MOVES = 4096  # per forward pass
_SLOPE = 1.0  # score lost with each edge beyond the longest learned span


@dataclass(frozen=True, slots=True)
class AlignerConfig:
    """How the aligner is built, trained and used."""

    at_least: int = 10  # times a word occurs in the train split
    width: int = 32
    hidden: int = 64
    spans: int = 7  # learned for 0 to 6 edges: R2R paths have no more
    dropout: float = 0.5
    epochs: int = 5
    batch: int = 48  # texts
    learning_rate: float = 2e-3
    weight_decay: float = 1e-4
    edge: float = 1.0  # weights of the four terms when ends are chosen
    end: float = 1.0
    begin: float = 1.0
    span: float = 2.0  # chosen on val_seen; in training all weights are 1
    seed: int = 0

    def __post_init__(self) -> None:
        check_at_least_one(self, "at_least", "width", "hidden", "spans", "epochs")
        check_fraction_below_one(self, "dropout")
        if self.batch < 2:
            raise ConfigError(
                f"batch = {self.batch} is out of range: a text is compared with the paths of the other texts "
                "in its batch. Give at least 2."
            )


class Vectors(NamedTuple):
    """Of pieces or of states, for a piece that covers an edge, ends at a state, or begins there. (..., D)."""

    edge: Tensor
    end: Tensor
    begin: Tensor


class Matcher(nn.Module):
    """Vectors of pieces and of states. Shapes: P pieces, S states, D dimensions of a vector, K spans."""

    def __init__(
        self, words: int, views_width: int, *, width: int, hidden: int, spans: int, dropout: float
    ) -> None:
        super().__init__()
        self.width, self.spans = width, spans
        self.words = nn.EmbeddingBag(words, 3 * width + spans, mode="sum")
        nn.init.normal_(self.words.weight, std=0.05)
        nn.init.zeros_(self.words.weight[:, 3 * width :])  # at first no word prefers a span
        self.place = nn.Linear(3, spans)
        nn.init.zeros_(self.place.weight)
        # Most pieces cover an edge or two, few none or many.
        edges = torch.arange(spans, device=self.place.bias.device)
        self.place.bias.data = -0.6 * (edges - 1.0).abs()
        self.on_edge = nn.Linear(EDGE_WIDTH, width)
        self.at_state = nn.Linear(STATE_WIDTH, 2 * width)
        self.seen = _view_encoder(views_width, hidden, 3 * width, dropout) if views_width else None

    def pieces(
        self,
        words: Tensor,  # (W,) the words of all pieces, one after another
        first: Tensor,  # (P,) where each piece begins among them
        counts: Tensor,  # (P,) words of each piece
    ) -> tuple[Vectors, Tensor]:  # vectors, (P, K) scores of spans without the position in the text
        """Encode pieces of text."""
        bag = self.words(words, first) / counts.clamp(min=1).sqrt()[:, None]
        edge, end, begin, span = bag.split([self.width] * 3 + [self.spans], dim=1)
        return Vectors(edge, end, begin), span

    def span_scores(
        self,
        spans: Tensor,  # (Q, K) from `pieces`
        position: Tensor,  # (Q, 3) from `positions_in_text`
    ) -> Tensor:  # (Q, K)
        """The log-probabilities that a piece covers 0, 1, ... edges."""
        return torch.log_softmax(spans + self.place(position), dim=1)

    def moves(self, views: Tensor) -> Tensor:  # (P, views) -> (P, 3 D)
        """Encode the views of moves between two viewpoints; zeros without view features."""
        if self.seen is None:
            return views.new_zeros(len(views), 3 * self.width)
        encoded: Tensor = self.seen(views)
        return encoded

    def states(
        self,
        edge: Tensor,  # (S, EDGE_WIDTH)
        state: Tensor,  # (S, STATE_WIDTH)
        leaving: Tensor,  # (S, 3 D) of the move that leaves the state
        arriving: Tensor,  # (S, 3 D) of the move that arrives there
    ) -> Vectors:
        """Encode states of paths and the edges that leave them."""
        end, begin = self.at_state(state).chunk(2, dim=1)
        view_edge = leaving[:, : self.width]
        _, view_end, view_begin = arriving.chunk(3, dim=1)
        return Vectors(self.on_edge(edge) + view_edge, end + view_end, begin + view_begin)


def _view_encoder(width: int, hidden: int, out: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(
        nn.Dropout(dropout), nn.Linear(width, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, out)
    )


def word_tensors(words: Ragged) -> tuple[Tensor, Tensor, Tensor]:
    """Pieces of text as arguments of `Matcher.pieces`."""
    return (
        torch.as_tensor(words.values, device=DEVICE).long(),
        torch.as_tensor(words.start[:-1], device=DEVICE),
        torch.as_tensor(words.lengths, device=DEVICE),
    )


def positions_in_text(examples: AlignmentExamples) -> Tensor:
    """(Q, 3) 1 for the first piece of an episode, 1 for the last, and the logarithm of the word count."""
    pieces = examples.pieces
    position = np.zeros((len(pieces.values), 3), dtype=np.float32)
    filled = pieces.lengths > 0
    position[pieces.start[:-1][filled], 0] = 1.0
    position[pieces.start[1:][filled] - 1, 1] = 1.0
    # About zero for the usual six words.
    position[:, 2] = np.log(np.maximum(1, examples.word_counts.values)) - 1.8
    return torch.as_tensor(position, device=DEVICE)


def state_vectors(
    network: Matcher,
    paths: PathFeatures,
    states: NDArray[np.int64],
    moves: Tensor,  # (P, 3 D)
    move: NDArray[np.int64],  # (S,) the move that arrives at each of the states
) -> Vectors:
    """The vectors of consecutive states; the edge vector at the last state of a path is meaningless."""
    arriving = moves[torch.as_tensor(move, device=DEVICE)]
    return network.states(
        torch.as_tensor(paths.edge[states], device=DEVICE),
        torch.as_tensor(paths.state[states], device=DEVICE),
        torch.cat([arriving[1:], arriving[-1:]]),
        arriving,
    )


def extrapolated(spans: Tensor, width: int) -> Tensor:  # (..., K) -> (..., width)
    """Scores of covering 0, 1, ... edges; they fall linearly beyond the longest learned span."""
    edges, longest = torch.arange(width, device=spans.device), spans.shape[-1] - 1
    return spans[..., edges.clamp(max=longest)] - _SLOPE * (edges - longest).clamp(min=0)


@dataclass(frozen=True, slots=True, eq=False)
class Aligner:
    """A trained network, its words and its features. Shapes as in `AlignmentExamples`."""

    config: AlignerConfig
    lexicon: Lexicon
    features: str  # the spec it was trained on
    scale: NDArray[np.float32]  # (VIEWS_PER_MOVE * D,) divides the features
    network: Matcher

    def ends(self, examples: AlignmentExamples, houses: Houses, features: ViewFeatures) -> Ragged:
        """E rows: where each step of each episode ends; the last at the last state of the path."""
        if features.spec != self.features:
            raise ConfigError(
                f"The aligner was trained on the features {self.features!r}, not on {features.spec!r}."
            )
        self.network.eval()
        with torch.inference_mode():
            text, spans = self._encode_pieces(examples)
            path = self._encode_states(examples, houses, features)
        ends = np.empty(len(examples.pieces.values), dtype=np.int32)
        steps, states = examples.pieces.lengths, examples.states
        for rows in buckets(steps, states):
            piece, valid = _padded_runs(examples.pieces.start[rows], steps[rows])
            state, _ = _padded_runs(examples.paths.start[examples.path_of[rows]], states[rows])
            scores = self._potentials(examples, text, spans, path, piece, state)
            ends[piece[valid]] = best_ends(scores, steps[rows], states[rows])[valid]
        return examples.step_ends(Ragged(ends, examples.pieces.start))

    def _encode_pieces(self, examples: AlignmentExamples) -> tuple[tuple[NDArray[np.float32], ...], Tensor]:
        """Vectors (P, D) of pieces, and (Q, K) scores of the edges that they cover."""
        text, spans = self.network.pieces(*word_tensors(self.lexicon.encode(examples.texts)))
        pieces = torch.as_tensor(examples.pieces.values, device=DEVICE).long()
        spans = self.network.span_scores(spans[pieces], positions_in_text(examples))
        return tuple(vector.numpy() for vector in text), spans * self.config.span

    def _encode_states(
        self, examples: AlignmentExamples, houses: Houses, features: ViewFeatures
    ) -> tuple[NDArray[np.float32], ...]:
        """Vectors (S, D) of the states of all paths."""
        paths = PathFeatures.of(houses, examples.paths, examples.headings)
        moves, move = unique_moves(paths.previous, paths.viewpoint)
        encoded = torch.cat(
            [
                self.network.moves(self.scaled_views(houses, features, moves[first : first + _MOVES]))
                for first in range(0, len(moves), _MOVES)
            ]
        )
        vectors = state_vectors(self.network, paths, np.arange(len(move)), encoded, move)
        return tuple(vector.numpy() for vector in vectors)

    def scaled_views(self, houses: Houses, features: ViewFeatures, moves: NDArray[np.int64]) -> Tensor:
        """(P, VIEWS_PER_MOVE * D) the views of moves between two viewpoints, divided by `scale`."""
        return torch.as_tensor(move_views(houses, features, moves) / self.scale, device=DEVICE)

    def _potentials(
        self,
        examples: AlignmentExamples,
        text: tuple[NDArray[np.float32], ...],
        spans: Tensor,
        path: tuple[NDArray[np.float32], ...],
        piece: NDArray[np.int64],  # (B, M) among the pieces of all episodes
        state: NDArray[np.int64],  # (B, T) among the states of all paths
    ) -> Potentials:
        number = examples.pieces.values[piece]
        edge, end, begin = (
            _batch_last(of_piece[number] @ of_state[state].transpose(0, 2, 1)) * np.float32(weight)
            for of_piece, of_state, weight in zip(
                text, path, (self.config.edge, self.config.end, self.config.begin), strict=True
            )
        )  # each (M, T, B)
        if examples.earliest is not None and examples.latest is not None:
            position = np.arange(state.shape[1])[:, None]
            early, late = (limit[piece].T[:, None] for limit in (examples.earliest, examples.latest))
            end[(position < early) | (position > late)] = -np.inf
        of_pieces = spans[torch.as_tensor(piece, device=DEVICE)]
        span = _batch_last(extrapolated(of_pieces, state.shape[1]).numpy())
        return Potentials(end=end, span=span, edge=edge[:, :-1], begin=begin)

    def save(self, folder: Path, *, notes: Sequence[str] = ()) -> None:
        """Write the aligner as a component of a data directory."""
        with component(folder, "aligner", notes=notes, details={"features": self.features}) as draft:
            write_tensors(draft.folder / "weights.safetensors", self.network.state_dict())
            np.save(draft.folder / "scale.npy", self.scale)
            write_json(
                draft.folder / "model.json",
                {"config": asdict(self.config), "features": self.features, "words": self.lexicon.words},
            )


def load_aligner(folder: Path) -> Aligner:
    """Read what `Aligner.save` wrote."""
    stored = StoredComponent(folder, f"Delete {folder}, and 'babywalk data align' trains it again.")
    with stored.reading("model.json") as file:
        record = Record.of(file, "the file", read_json(file))
        config = from_table(AlignerConfig, record.table("config"), where=f"{file}, config")
        lexicon, spec = Lexicon(tuple(record.strings("words"))), record.string("features")
    with stored.reading("scale.npy") as file:
        scale = read_array(file, "f", (None,))
        check_range(file, "scales", scale, 0, np.inf)
    with stored.reading("weights.safetensors") as file:
        tensors, _ = read_tensors(file)
        check_sizes(file, tensors, {"width": config.width, "hidden": config.hidden, "spans": config.spans})
        network = new_matcher(config, lexicon, len(scale))
        load_state(network, tensors, file)
    return Aligner(config, lexicon, spec, scale, network.eval())


def new_matcher(config: AlignerConfig, lexicon: Lexicon, views_width: int) -> Matcher:
    """An untrained network for a configuration."""
    with torch.device(DEVICE):
        return Matcher(
            len(lexicon.words),
            views_width,
            width=config.width,
            hidden=config.hidden,
            spans=config.spans,
            dropout=config.dropout,
        )


def _batch_last(scores: NDArray[np.float32]) -> NDArray[np.float32]:  # (B, M, T) -> (M, T, B)
    return np.ascontiguousarray(scores.transpose(1, 2, 0))


def _padded_runs(
    first: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:  # (B, longest), (B, longest) True where it is not padding
    """The runs first, first + 1, ... of the given lengths, padded with `first`."""
    column = np.arange(lengths.max())
    valid = column < lengths[:, None]
    return np.where(valid, first[:, None] + column, first[:, None]), valid
