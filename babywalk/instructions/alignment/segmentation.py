"""Cutting paths into steps: in proportion to words, or the best segmentation by dynamic programming.

A path of T states is cut into M steps: step m covers the edges from state b to state e, b being where step
m - 1 ended (0 for the first). It scores

    begin[m, b] + sum of edge[m, t] over its edges + span[m, e - b] + end[m, e]

and the last step ends at the last state. The arrays hold many episodes, in the last axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.common.ragged import Ragged

Scores = NDArray[np.float32]


def proportional(words: Ragged, states: NDArray[np.int64]) -> Ragged:
    """Row i: where each step of episode i ends on a path of `states[i]` viewpoints, by word counts alone.

    A step ends at the viewpoint nearest to its share of the path's edges. Half-way between two viewpoints,
    the one at an even position counted from 1 is chosen: of the possible rules, the one that gives the
    published figures for Fine-Grained R2R (40.5 % exact, 86.3 % within one).
    """
    total = np.append(0, np.cumsum(words.values, dtype=np.int64))
    before, after = total[words.start[:-1]], total[words.start[1:]]
    edges_per_word = np.repeat((states - 1) / np.maximum(1, after - before), words.lengths)
    position = np.round(1 + (total[1:] - np.repeat(before, words.lengths)) * edges_per_word) - 1
    ends = position.astype(np.int32)
    filled = words.lengths > 0
    ends[words.start[1:][filled] - 1] = states[filled] - 1  # also where no step has a word
    return Ragged(ends, words.start)


@dataclass(frozen=True, slots=True, eq=False)
class Potentials:
    """The terms of a segmentation's score. Shapes: B episodes, M steps, T states, both padded."""

    end: Scores  # (M, T, B) of step m ending at state t; -inf where it may not
    span: Scores  # (M, T, B) of step m having k edges; -inf where it may not
    edge: Scores | None = None  # (M, T - 1, B) of step m covering the edge from t to t + 1; None for zeros
    begin: Scores | None = None  # (M, T, B) of step m beginning at state t; None for zeros


def best_ends(
    scores: Potentials,
    steps: NDArray[np.int64],  # (B,)
    states: NDArray[np.int64],  # (B,)
) -> NDArray[np.int32]:  # (B, M), undefined after an episode's last step
    """Where each step of the best segmentation ends; ties go to the shortest late steps.

    Padding has no effect: the solution of an episode is read at its own last step and last state.
    """
    longest, width, count = scores.end.shape
    best = np.full((width, count), -np.inf, dtype=np.float32)
    best[0] = 0.0
    span = np.empty((longest, width, count), dtype=np.int8 if width < 128 else np.int16)
    for m in range(longest):
        best, span[m] = _add_step(scores, m, best)
    rows = np.arange(count)
    ends = np.empty((count, longest), dtype=np.int32)
    state = states - 1
    for m in reversed(range(longest)):
        ends[:, m] = state
        state = np.where(m < steps, state - span[m, state, rows], state)
    return ends


def _add_step(
    scores: Potentials,
    m: int,
    best: Scores,  # (T, B) of the steps before m, which end at state t
) -> tuple[Scores, NDArray[np.int16]]:  # (T, B) best score, (T, B) edges of step m
    width = len(best)
    leaving = best if scores.begin is None else best + scores.begin[m]
    covered: Scores | None = None  # (T, B) sum of the edge scores before state t
    if scores.edge is not None:
        covered = np.zeros_like(best)
        np.cumsum(scores.edge[m], axis=0, out=covered[1:])
        leaving = leaving - covered
    result = leaving + scores.span[m, 0]
    edges = np.zeros(result.shape, dtype=np.int16)
    for k in range(1, width):
        longer = leaving[:-k] + scores.span[m, k]
        better = longer > result[k:]
        np.copyto(result[k:], longer, where=better)
        edges[k:][better] = k
    result += scores.end[m]
    return result if covered is None else result + covered, edges


def buckets(
    steps: NDArray[np.int64], states: NDArray[np.int64], *, size: int = 4096
) -> Iterator[NDArray[np.int64]]:
    """Episodes with similar numbers of steps and states together, which keeps padding small."""
    kind = (states + 1) // 2 * (int(steps.max(initial=0)) + 2) + (steps + 1) // 2
    order = np.argsort(kind, kind="stable")
    order = order[steps[order] > 0]
    bounds = np.flatnonzero(np.diff(kind[order])) + 1
    for group in np.split(order, bounds):
        yield from (group[first : first + size] for first in range(0, len(group), size))
