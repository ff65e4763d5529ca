"""What alignment is given: paths, and what is told along each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.fine_grained import FineGrainedWalk
from babywalk.buildings.houses import Houses
from babywalk.common.ragged import Ragged, ranges, starts
from babywalk.episodes.task import Task
from babywalk.episodes.walks import Walks
from babywalk.instructions.alignment.words import clauses
from babywalk.instructions.babysteps import BabySteps


@dataclass(frozen=True, slots=True, eq=False)
class AlignmentExamples:
    """Paths and the pieces of text told along them, in order.

    A piece is what is placed: a sub-instruction, or a clause of a Baby-Step. Where the steps whose ends are
    asked for are longer than pieces, `closes` says which piece is a step's last; the last piece of an
    episode always is. Shapes: E episodes, C paths, P pieces, Q pieces over all episodes.
    """

    paths: Ragged  # C rows of viewpoints, none empty
    headings: NDArray[np.float64]  # (C,) radians at the start
    path_of: NDArray[np.int64]  # (E,)
    texts: Sequence[Sequence[str]]  # P pieces as words
    pieces: Ragged  # E rows of pieces
    closes: NDArray[np.bool_]  # (Q,) True where a step ends
    earliest: NDArray[np.int32] | None = None  # (Q,) the first state at which a piece may end; None: any
    latest: NDArray[np.int32] | None = None  # (Q,) the last one

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def states(self) -> NDArray[np.int64]:
        """(E,) viewpoints on the path of each episode."""
        return self.paths.lengths[self.path_of]

    @property
    def word_counts(self) -> Ragged:
        """E rows: how many words each piece has."""
        counts = np.array([len(words) for words in self.texts], dtype=np.int32)
        return Ragged(counts[self.pieces.values], self.pieces.start)

    def at_steps(self, ends: Ragged) -> Ragged:
        """The ends of steps among the ends of pieces."""
        closed = np.append(0, np.cumsum(self.closes))
        return Ragged(ends.values[self.closes], closed[self.pieces.start])


def examples_from_walks(walks: Walks) -> AlignmentExamples:
    """Every text of the walks, clause by clause: what an aligner learns from."""
    pieces, texts = _clauses(walks.texts)
    closes = np.ones(len(texts), dtype=np.bool_)
    path_of = np.repeat(np.arange(len(walks)), np.diff(walks.first_text))
    return AlignmentExamples(walks.paths, walks.headings, path_of, texts, pieces, closes)


def examples_from_people(
    walks: Sequence[FineGrainedWalk], houses: Houses
) -> tuple[AlignmentExamples, Ragged]:
    """The sub-instructions of Fine-Grained R2R, and where each of them ends."""
    annotated = [(number, parts) for number, walk in enumerate(walks) for parts in walk.steps if parts]
    flat = [part for _, parts in annotated for part in parts]
    start = starts([len(parts) for _, parts in annotated])
    told = AlignmentExamples(
        paths=Ragged.of(
            [[houses.viewpoints(item.walk.scan)[name] for name in item.walk.path] for item in walks]
        ),
        headings=np.array([item.walk.heading for item in walks], dtype=np.float64),
        path_of=np.array([number for number, _ in annotated], dtype=np.int64),
        texts=[part.words for part in flat],
        pieces=Ragged(np.arange(len(flat), dtype=np.int32), start),
        closes=np.ones(len(flat), dtype=np.bool_),
    )
    return told, Ragged(np.array([part.last for part in flat], dtype=np.int32), start)


def examples_from_babysteps(steps: BabySteps, *, joints: bool = False) -> AlignmentExamples:
    """The clauses of Baby-Steps.

    With `joints`, what is told about one walk of a chain ends between that walk's goal and the next one's
    start: knowledge of how a task was made, which the paper does not use.
    """
    task, found = steps.task, steps.segmented
    episodes = np.arange(len(task))
    sentences = found.of_episodes(task, episodes)
    words = [found.words_of(number, task.walks.texts) for number in range(len(found.begin))]
    in_sentence, texts = _clauses(words)
    count = in_sentence.lengths[sentences.values]
    pieces = Ragged(
        ranges(in_sentence.start[sentences.values], count).astype(np.int32),
        np.append(0, np.cumsum(count))[sentences.start],
    )
    last = np.cumsum(count) - 1  # of each sentence, among the pieces of all episodes
    closes = np.zeros(len(pieces.values), dtype=np.bool_)
    closes[last[np.cumsum(steps.sentences.values) - 1]] = True
    earliest, latest = _windows(steps, sentences, last, pieces) if joints else (None, None)
    return AlignmentExamples(
        paths=task.paths,
        headings=task.walks.headings[task.chain[:, 0]],
        path_of=task.chain_of(episodes),
        texts=texts,
        pieces=pieces,
        closes=closes,
        earliest=earliest,
        latest=latest,
    )


def _clauses(texts: Sequence[str]) -> tuple[Ragged, list[tuple[str, ...]]]:
    """The clauses of every text, numbered through, and their words."""
    found = [clauses(text) for text in texts]
    flat = [clause for text in found for clause in text]
    start = starts([len(text) for text in found])
    return Ragged(np.arange(len(flat), dtype=np.int32), start), flat


def _windows(
    steps: BabySteps, sentences: Ragged, last: NDArray[np.int64], pieces: Ragged
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(Q,) the first and last state at which each piece may end, by where its walk and the next meet."""
    task, episodes = steps.task, np.arange(len(steps.task))
    chain = task.chain_of(episodes)
    goal, start = meetings(task)
    count = np.diff(steps.segmented.table.first)[task.texts_of(episodes)]  # (E, M) sentences of each text
    closing = last[sentences.start[:-1, None] + np.cumsum(count, axis=1)[:, :-1] - 1]  # (E, M - 1) pieces
    earliest = np.zeros(len(pieces.values), dtype=np.int32)
    latest = np.repeat(task.paths.lengths[chain] - 1, pieces.lengths).astype(np.int32)
    earliest[closing], latest[closing] = goal[chain], start[chain]
    return earliest, latest


def meetings(task: Task) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(C, M - 1) where on a joined path each walk but the last ends, and where the next one begins."""
    walked = task.walks.paths
    here, start = walked.lasts[task.chain[:, :-1]], walked.firsts[task.chain[:, 1:]]
    across = np.zeros(here.shape, dtype=np.int64)
    while (onward := here != start).any():
        across += onward
        here = task.houses.step_towards(here, start)
    edges = np.cumsum(walked.lengths[task.chain] - 1, axis=1)[:, :-1]
    begins = edges + np.cumsum(across, axis=1)
    return begins - across, begins
