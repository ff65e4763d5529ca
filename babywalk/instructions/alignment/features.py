"""The inputs of the aligner's network: words as numbers, the moves along paths, and the views on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.buildings.features import ViewFeatures
from babywalk.buildings.houses import Houses
from babywalk.buildings.panorama import COLUMNS, STEP, direction
from babywalk.common.errors import DataError
from babywalk.common.ragged import Ragged
from babywalk.instructions.alignment.examples import stems

_STEEP = 0.25  # radians: stairs are steeper, door sills are not
EDGE_WIDTH = 2 * COLUMNS + 6
STATE_WIDTH = COLUMNS + 1 + 3 + 3 + 2
VIEWS_PER_MOVE = 3  # see `move_views`


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The stems that an aligner knows, by number; other words are ignored."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, pieces: Iterable[Sequence[str]], *, at_least: int) -> Lexicon:
        """The stems that occur so often in pieces of text, in alphabetical order."""
        counts = Counter(word for piece in pieces for word in stems(piece))
        frequent = tuple(sorted(word for word, count in counts.items() if count >= at_least))
        if not frequent:
            raise DataError(f"No word occurs {at_least} times. Use more texts, or a smaller at_least.")
        return cls(frequent)

    def encode(self, pieces: Iterable[Sequence[str]]) -> Ragged:
        """A row for each piece: the numbers of its known words."""
        numbers = {word: number for number, word in enumerate(self.words)}
        return Ragged.of([[numbers[word] for word in stems(piece) if word in numbers] for piece in pieces])


@dataclass(frozen=True, slots=True, eq=False)
class PathFeatures:
    """Turns, slopes and distances along paths, for the states of all paths in one array of S states.

    The last state of a path has no edge that leaves it.
    """

    previous: NDArray[np.int32]  # (S,) the viewpoint before; itself at the start of a path
    viewpoint: NDArray[np.int32]  # (S,)
    edge: NDArray[np.float32]  # (S, EDGE_WIDTH) of the edge that leaves the state, zeros at the last
    state: NDArray[np.float32]  # (S, STATE_WIDTH) of arriving at the state and leaving it

    @classmethod
    def of(cls, houses: Houses, paths: Ragged, headings: NDArray[np.float64]) -> PathFeatures:
        """From paths and the heading at the start of each."""
        viewpoint = paths.values
        first, last = np.zeros(len(viewpoint), dtype=np.bool_), np.zeros(len(viewpoint), dtype=np.bool_)
        first[paths.start[:-1]], last[paths.start[1:] - 1] = True, True
        positions = houses.positions[viewpoint]
        offset = np.zeros((len(viewpoint), 3))
        offset[~last] = positions[1:][~last[:-1]] - positions[:-1][~last[:-1]]
        heading, elevation = direction(offset)
        facing = np.append(0.0, heading[:-1])
        facing[paths.start[:-1]] = headings
        turn = direction_weights(heading - facing) * ~last[:, None]
        slope = np.stack([elevation < -_STEEP, np.abs(elevation) <= _STEEP, elevation > _STEEP], axis=1)
        slope &= ~last[:, None]
        metres = np.linalg.norm(offset, axis=1)
        scalars = [3 * np.sin(elevation), metres / 2 - 1, first]  # scaled to the range of the other columns
        edge = np.concatenate([turn, turn * first[:, None], slope, np.stack(scalars, axis=1)], axis=1)
        slope_before = np.roll(slope, 1, axis=0) & ~first[:, None]
        state = np.concatenate(
            [turn, last[:, None], slope, slope_before, first[:, None], last[:, None]], axis=1
        )
        return cls(
            previous=np.where(first, viewpoint, np.roll(viewpoint, 1)),
            viewpoint=viewpoint,
            edge=(edge * ~last[:, None]).astype(np.float32),
            state=state.astype(np.float32),
        )


def direction_weights(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """(S, 12) an angle as weights on the two nearest of twelve directions, straight on first."""
    gap = np.abs(np.mod(angle[:, None] - np.arange(COLUMNS) * STEP + np.pi, 2 * np.pi) - np.pi)
    weights: NDArray[np.float64] = np.maximum(0.0, 1.0 - gap / STEP)
    return weights


def unique_moves(
    previous: NDArray[np.int32], viewpoint: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # (P, 2) pairs of viewpoints, (S,) the pair of each state
    """The distinct moves between two viewpoints, so that the views of an edge are computed once."""
    width = int(viewpoint.max(initial=0)) + 1
    code, move = np.unique(previous.astype(np.int64) * width + viewpoint, return_inverse=True)
    return np.stack([code // width, code % width], axis=1), move


def move_views(
    houses: Houses,
    features: ViewFeatures,
    moves: NDArray[np.int64],  # (P, 2)
) -> NDArray[np.float32]:  # (P, VIEWS_PER_MOVE * D)
    """The view ahead before each move, the view ahead after it, and the panorama after it.

    At the start of a path, where both viewpoints are the same, the views ahead are zeros.
    """
    previous, viewpoint = moves.T
    heading, _ = direction(houses.positions[viewpoint] - houses.positions[previous])
    level_view = COLUMNS + np.round(heading / STEP).astype(np.int64) % COLUMNS
    moved = (previous != viewpoint)[:, None]
    ahead = [features.view(place, level_view) * moved for place in (previous, viewpoint)]
    return np.concatenate([*ahead, features.panorama(viewpoint)], axis=1)
