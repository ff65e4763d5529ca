"""A trained aligner: words, weights, and where pieces of text end by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from babywalk.assets.manifest import component
from babywalk.buildings.features import ViewFeatures
from babywalk.buildings.houses import Houses
from babywalk.common.config import check_at_least_one, check_fraction_below_one
from babywalk.common.errors import ConfigError, DataError
from babywalk.common.files import read_json, write_json
from babywalk.common.ragged import Ragged
from babywalk.instructions.alignment.alignment_examples import AlignmentExamples
from babywalk.instructions.alignment.encoding import places_in_text, state_vectors, stretched, word_tensors
from babywalk.instructions.alignment.lexicon import Lexicon
from babywalk.instructions.alignment.network import Matcher
from babywalk.instructions.alignment.segmentation import Potentials, best_ends, buckets
from babywalk.instructions.alignment.sights import sights, unique_pairs
from babywalk.instructions.alignment.walking import Walking
from babywalk.instructions.landmarks.weights import load_weights, save_weights

_PAIRS = 4096  # at a time


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
    edge: float = 1.0  # what each term counts when ends are chosen
    end: float = 1.0
    begin: float = 1.0
    span: float = 2.0  # chosen on val_seen; in training all count 1
    seed: int = 0

    def __post_init__(self) -> None:
        check_at_least_one(self, "at_least", "width", "hidden", "spans", "epochs")
        check_fraction_below_one(self, "dropout")
        if self.batch < 2:
            raise ConfigError(f"batch = {self.batch} cannot work: texts are compared. Give at least 2.")


@dataclass(frozen=True, slots=True, eq=False)
class Aligner:
    """Where pieces of text end on a path, by what they say and what walking and looking there is like."""

    config: AlignerConfig
    lexicon: Lexicon
    features: str  # the spec it was trained on
    scale: NDArray[np.float32]  # (PARTS * D,) what sights are divided by
    network: Matcher

    def ends(self, told: AlignmentExamples, houses: Houses, features: ViewFeatures) -> Ragged:
        """E rows: where each step of each episode ends; the last at the last state of the path."""
        if features.spec != self.features:
            raise ConfigError(f"The aligner looks at {self.features!r}, not at {features.spec!r}.")
        self.network.eval()
        with torch.inference_mode():
            said, spans = self._pieces(told)
            walked = self._states(told, houses, features)
        ends = np.empty(len(told.pieces.values), dtype=np.int32)
        steps, states = told.pieces.lengths, told.states
        for rows in buckets(steps, states):
            piece, inside = _places(told.pieces.start[rows], steps[rows])
            state, _ = _places(told.paths.start[told.path_of[rows]], states[rows])
            scores = self._potentials(told, said, spans, walked, piece, state)
            ends[piece[inside]] = best_ends(scores, steps[rows], states[rows])[inside]
        return told.at_steps(Ragged(ends, told.pieces.start))

    def _pieces(self, told: AlignmentExamples) -> tuple[tuple[NDArray[np.float32], ...], Tensor]:
        """Vectors (P, D) of what pieces say, and (Q, K) scores of the edges that they cover."""
        words = self.lexicon.encode(told.texts)
        said, spans = self.network.pieces(*word_tensors(words))
        place = torch.from_numpy(places_in_text(told))
        spans = self.network.span_scores(spans[torch.from_numpy(told.pieces.values).long()], place)
        return tuple(vector.numpy() for vector in said), spans * self.config.span

    def _states(
        self, told: AlignmentExamples, houses: Houses, features: ViewFeatures
    ) -> tuple[NDArray[np.float32], ...]:
        """Vectors (S, D) of the states of all paths."""
        walking = Walking.of(houses, told.paths, told.headings)
        pairs, place = unique_pairs(walking.before, walking.here)
        seen = torch.cat(
            [
                self.network.pairs(self.look(houses, features, pairs[first : first + _PAIRS]))
                for first in range(0, len(pairs), _PAIRS)
            ]
        )
        vectors = state_vectors(self.network, walking, np.arange(len(place)), seen, torch.from_numpy(place))
        return tuple(vector.numpy() for vector in vectors)

    def look(self, houses: Houses, features: ViewFeatures, pairs: NDArray[np.int64]) -> Tensor:
        """(P, PARTS * D) what is seen on the moves between two viewpoints, scaled."""
        return torch.from_numpy(sights(houses, features, pairs) / self.scale)

    def _potentials(
        self,
        told: AlignmentExamples,
        said: tuple[NDArray[np.float32], ...],
        spans: Tensor,
        walked: tuple[NDArray[np.float32], ...],
        piece: NDArray[np.int64],  # (B, M) among the pieces of all episodes
        state: NDArray[np.int64],  # (B, T) among the states of all paths
    ) -> Potentials:
        number = told.pieces.values[piece]
        edge, end, begin = (
            _batch_last(mine[number] @ theirs[state].transpose(0, 2, 1)) * np.float32(weight)
            for mine, theirs, weight in zip(
                said, walked, (self.config.edge, self.config.end, self.config.begin), strict=True
            )
        )  # each (M, T, B)
        if told.earliest is not None and told.latest is not None:
            where = np.arange(state.shape[1])[:, None]
            early, late = (limit[piece].T[:, None] for limit in (told.earliest, told.latest))
            end[(where < early) | (where > late)] = -np.inf
        span = _batch_last(stretched(spans[torch.from_numpy(piece)], state.shape[1]).numpy())
        return Potentials(end=end, span=span, edge=edge[:, :-1], begin=begin)

    def save(self, folder: Path, *, notes: Sequence[str] = ()) -> None:
        """Keep the aligner as a component."""
        with component(folder, "aligner", notes=notes, details={"features": self.features}) as draft:
            save_weights(draft.folder / "weights.safetensors", self.network)
            np.save(draft.folder / "scale.npy", self.scale)
            write_json(
                draft.folder / "model.json",
                {"config": asdict(self.config), "features": self.features, "words": self.lexicon.words},
            )


def load_aligner(folder: Path) -> Aligner:
    """Read what `Aligner.save` kept."""
    stored = read_json(folder / "model.json")
    try:
        config = AlignerConfig(**stored["config"])
        lexicon = Lexicon(tuple(stored["words"]))
        scale = np.load(folder / "scale.npy", allow_pickle=False)
        spec = str(stored["features"])
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{folder}: cannot be read ({error}). Train the aligner again.") from None
    network = new_network(config, lexicon, len(scale))
    load_weights(folder / "weights.safetensors", network)
    return Aligner(config, lexicon, spec, scale, network.eval())


def new_network(config: AlignerConfig, lexicon: Lexicon, sights_width: int) -> Matcher:
    """An untrained network for a configuration."""
    return Matcher(
        len(lexicon.words),
        sights_width,
        width=config.width,
        hidden=config.hidden,
        spans=config.spans,
        dropout=config.dropout,
    )


def _batch_last(scores: NDArray[np.float32]) -> NDArray[np.float32]:  # (B, M, T) -> (M, T, B)
    return np.ascontiguousarray(scores.transpose(1, 2, 0))


def _places(
    first: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:  # (B, longest), (B, longest) True where there is something
    """Runs that begin at `first`, filled up with their first place."""
    column = np.arange(lengths.max())
    inside = column < lengths[:, None]
    return np.where(inside, first[:, None] + column, first[:, None]), inside
