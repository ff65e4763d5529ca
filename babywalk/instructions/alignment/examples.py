"""The data of alignment: paths, and along each the pieces of text that are to be placed on it.

Texts are cut into clauses that describe one move each; `stem` makes their words comparable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.fine_grained import FineGrainedWalk
from babywalk.assets.tokens import tokenise
from babywalk.buildings.houses import Houses
from babywalk.common.ragged import Ragged, ranges, starts
from babywalk.episodes.task import Task
from babywalk.episodes.walks import Walks
from babywalk.instructions.babysteps import BabySteps

# Words that begin a new clause inside a sentence, as annotators cut instructions in Fine-Grained R2R: "then"
# and "but", and "and" before a move, but not in "table and chairs" or "up the stairs and into the hall".
_OPENINGS = frozenset({"then", "but"})
_MOVES = (
    "climb", "continue", "cross", "descend", "enter", "exit", "face", "follow", "go", "head", "keep", "leave",
    "look", "make", "move", "pass", "proceed", "remain", "stand", "stay", "step", "stop", "take", "then",
    "turn", "veer", "wait", "walk", "you",
)  # fmt: skip
_SHORTEST = 3  # words of a clause before a comma or an opening may end it
_STOPS = frozenset(".!?")
_PAUSES = frozenset(".!?,;:")
_ENDINGS = ("ing", "ed", "es", "s", "e")


@dataclass(frozen=True, slots=True, eq=False)
class AlignmentExamples:
    """Episodes of alignment: a path, and pieces of text in the order in which they describe it.

    A piece is a sub-instruction, or a clause of a Baby-Step. Where a step consists of several pieces,
    `ends_step` marks the last of them; the last piece of an episode always ends a step.
    Shapes: E episodes, C paths, P pieces, Q pieces over all episodes.
    """

    paths: Ragged  # C rows of viewpoints, none empty
    headings: NDArray[np.float64]  # (C,) radians at the start
    path_of: NDArray[np.int64]  # (E,)
    texts: Sequence[Sequence[str]]  # P pieces as words
    pieces: Ragged  # E rows of pieces
    ends_step: NDArray[np.bool_]  # (Q,) True where a step ends
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
        """E rows: the number of words of each piece."""
        counts = np.array([len(words) for words in self.texts], dtype=np.int32)
        return Ragged(counts[self.pieces.values], self.pieces.start)

    def step_ends(self, ends: Ragged) -> Ragged:
        """The ends of steps, from the ends of pieces."""
        steps_before = np.append(0, np.cumsum(self.ends_step))
        return Ragged(ends.values[self.ends_step], steps_before[self.pieces.start])


def examples_from_walks(walks: Walks) -> AlignmentExamples:
    """Every text of the walks, clause by clause: the training data of the aligner."""
    pieces, texts = _clauses(walks.texts)
    ends_step = np.ones(len(texts), dtype=np.bool_)
    path_of = np.repeat(np.arange(len(walks)), np.diff(walks.first_text))
    return AlignmentExamples(walks.paths, walks.headings, path_of, texts, pieces, ends_step)


def examples_from_annotations(
    walks: Sequence[FineGrainedWalk], houses: Houses
) -> tuple[AlignmentExamples, Ragged]:
    """The sub-instructions of Fine-Grained R2R, and where each of them ends."""
    annotated = [(number, parts) for number, walk in enumerate(walks) for parts in walk.steps if parts]
    flat = [part for _, parts in annotated for part in parts]
    start = starts([len(parts) for _, parts in annotated])
    examples = AlignmentExamples(
        paths=Ragged.of(
            [[houses.viewpoints(item.walk.scan)[name] for name in item.walk.path] for item in walks]
        ),
        headings=np.array([item.walk.heading for item in walks], dtype=np.float64),
        path_of=np.array([number for number, _ in annotated], dtype=np.int64),
        texts=[part.words for part in flat],
        pieces=Ragged(np.arange(len(flat), dtype=np.int32), start),
        ends_step=np.ones(len(flat), dtype=np.bool_),
    )
    return examples, Ragged(np.array([part.last for part in flat], dtype=np.int32), start)


def examples_from_babysteps(steps: BabySteps, *, joints: bool = False) -> AlignmentExamples:
    """The clauses of Baby-Steps.

    With `joints`, the text of one walk of a chain ends between that walk's goal and the next one's start:
    knowledge of how a task was made, which the paper does not use.
    """
    task, segmented = steps.task, steps.segmented
    episodes = np.arange(len(task))
    sentences = segmented.of_episodes(task, episodes)
    texts_of_sentences = [
        segmented.words_of(number, task.walks.texts) for number in range(len(segmented.begin))
    ]
    in_sentence, texts = _clauses(texts_of_sentences)
    count = in_sentence.lengths[sentences.values]
    pieces = Ragged(
        ranges(in_sentence.start[sentences.values], count).astype(np.int32),
        np.append(0, np.cumsum(count))[sentences.start],
    )
    last = np.cumsum(count) - 1  # of each sentence, among the pieces of all episodes
    ends_step = np.zeros(len(pieces.values), dtype=np.bool_)
    ends_step[last[np.cumsum(steps.sentences.values) - 1]] = True
    earliest, latest = _windows(steps, sentences, last, pieces) if joints else (None, None)
    return AlignmentExamples(
        paths=task.paths,
        headings=task.start_headings(np.arange(len(task.chain))),
        path_of=task.chain_of(episodes),
        texts=texts,
        pieces=pieces,
        ends_step=ends_step,
        earliest=earliest,
        latest=latest,
    )


def _clauses(texts: Sequence[str]) -> tuple[Ragged, list[tuple[str, ...]]]:
    """A row for each text: the numbers of its clauses; and the words of every clause."""
    found = [clauses(text) for text in texts]
    flat = [clause for text in found for clause in text]
    start = starts([len(text) for text in found])
    return Ragged(np.arange(len(flat), dtype=np.int32), start), flat


def _windows(
    steps: BabySteps, sentences: Ragged, last: NDArray[np.int64], pieces: Ragged
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(Q,) the first and last state at which each piece may end, from where its walk and the next meet."""
    task, episodes = steps.task, np.arange(len(steps.task))
    chain = task.chain_of(episodes)
    goal, start = walk_boundaries(task)
    count = np.diff(steps.segmented.table.first)[task.texts_of(episodes)]  # (E, M) sentences of each text
    final = last[sentences.start[:-1, None] + np.cumsum(count, axis=1)[:, :-1] - 1]  # (E, M - 1) pieces
    earliest = np.zeros(len(pieces.values), dtype=np.int32)
    latest = np.repeat(task.paths.lengths[chain] - 1, pieces.lengths).astype(np.int32)
    earliest[final], latest[final] = goal[chain], start[chain]
    return earliest, latest


def walk_boundaries(task: Task) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(C, M - 1) where on a joined path each walk but the last ends, and where the next one begins."""
    walked = task.walks.paths
    viewpoint, start = walked.lasts[task.chain[:, :-1]], walked.firsts[task.chain[:, 1:]]
    between = np.zeros(viewpoint.shape, dtype=np.int64)
    while (apart := viewpoint != start).any():
        between += apart
        viewpoint = task.houses.step_towards(viewpoint, start)
    edges = np.cumsum(walked.lengths[task.chain] - 1, axis=1)[:, :-1]
    begins = edges + np.cumsum(between, axis=1)
    return begins - between, begins


def stem(word: str) -> str:
    """A word without its ending, so that "stairs" is "stair" and "walking" is "walk".

    Fine-Grained R2R contains lemmas, instructions contain inflected words: their stems are equal.
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            root = word[: -len(ending)]
            # "stopping" is "stop", but "hall" keeps both letters.
            doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "sl"
            return root[:-1] if doubled else root
    return word


def stems(words: Iterable[str]) -> tuple[str, ...]:
    """The stems of words, without punctuation."""
    return tuple(stem(word) for word in words if _is_word(word))


def clauses(text: str) -> list[tuple[str, ...]]:
    """The words of a text, without punctuation, in clauses; at least one clause, which may have no word."""
    found: list[list[str]] = []
    for clause in _cut(tokenise(text)):
        if found and len(clause) < 2:  # a single word is too little to be placed
            found[-1] += clause
        else:
            found.append(clause)
    return [tuple(clause) for clause in found] or [()]


def _cut(tokens: Sequence[str]) -> Iterator[list[str]]:
    clause: list[str] = []
    for token, following in pairwise([*tokens, ""]):
        long_enough = len(clause) >= _SHORTEST
        if not _is_word(token):
            if clause and ((_STOPS & set(token)) or (long_enough and _PAUSES & set(token))):
                yield clause
                clause = []
            continue
        opens = token in _OPENINGS or (token == "and" and stem(following) in _MOVE_STEMS)
        if opens and long_enough:
            yield clause
            clause = []
        clause.append(token)
    if clause:
        yield clause


def _is_word(token: str) -> bool:
    return any(character.isalnum() for character in token)


_MOVE_STEMS = frozenset(map(stem, _MOVES))
