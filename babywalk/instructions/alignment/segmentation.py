"""The best segmentation of paths, by dynamic programming over many episodes at once.

A path of T states is cut into M steps: step m covers the edges from state b to state e, b being where step
m - 1 ended (0 for the first). It scores

    begin[m, b] + sum of edge[m, t] over its edges + span[m, e - b] + end[m, e]

and the last step ends at the last state. The sweep is over steps and spans; episodes lie in the last axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Potentials:
    """What each choice scores. Shapes: B episodes, M steps, T states, both filled up to the longest."""

    end: Scores  # (M, T, B) of step m ending at state t; -inf where it may not
    span: Scores  # (M, T, B) of step m having k edges; -inf where it may not
    edge: Scores | None = None  # (M, T - 1, B) of step m covering the edge from t to t + 1; None for zeros
    begin: Scores | None = None  # (M, T, B) of step m beginning at state t; None for zeros


def best_ends(
    scores: Potentials,
    steps: NDArray[np.int64],  # (B,)
    states: NDArray[np.int64],  # (B,)
) -> NDArray[np.int32]:  # (B, M), meaningless after an episode's last step
    """Where each step of the best segmentation ends; of equal ones, that with the shortest late steps.

    What is filled up is never looked at: an episode is read off at its own last step and last state.
    """
    longest, width, count = scores.end.shape
    reached = np.full((width, count), -np.inf, dtype=np.float32)
    reached[0] = 0.0
    came = np.empty((longest, width, count), dtype=np.int8 if width < 128 else np.int16)
    for m in range(longest):
        reached, came[m] = _step(scores, m, reached)
    rows = np.arange(count)
    ends = np.empty((count, longest), dtype=np.int32)
    here = states - 1
    for m in reversed(range(longest)):
        ends[:, m] = here
        here = np.where(m < steps, here - came[m, here, rows], here)
    return ends


def _step(
    scores: Potentials, m: int, reached: Scores
) -> tuple[Scores, NDArray[np.int16]]:  # (T, B) best score, (T, B) edges of the step
    width = len(reached)
    leaving = reached if scores.begin is None else reached + scores.begin[m]
    gained: Scores | None = None
    if scores.edge is not None:
        gained = np.zeros_like(reached)
        np.cumsum(scores.edge[m], axis=0, out=gained[1:])
        leaving = leaving - gained
    best = leaving + scores.span[m, 0]
    edges = np.zeros(best.shape, dtype=np.int16)
    for k in range(1, width):
        longer = leaving[:-k] + scores.span[m, k]
        better = longer > best[k:]
        np.copyto(best[k:], longer, where=better)
        edges[k:][better] = k
    best += scores.end[m]
    return best if gained is None else best + gained, edges


def buckets(
    steps: NDArray[np.int64], states: NDArray[np.int64], *, size: int = 4096
) -> Iterator[NDArray[np.int64]]:
    """Episodes of about the same numbers of steps and states together, so that little is filled up."""
    kind = (states + 1) // 2 * (int(steps.max(initial=0)) + 2) + (steps + 1) // 2
    order = np.argsort(kind, kind="stable")
    order = order[steps[order] > 0]
    bounds = np.flatnonzero(np.diff(kind[order])) + 1
    for group in np.split(order, bounds):
        yield from (group[first : first + size] for first in range(0, len(group), size))
