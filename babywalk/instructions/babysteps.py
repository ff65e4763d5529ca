"""Baby-Steps: short instructions, and the part of the path that each describes.

Identification yields the steps, alignment adds where each of them ends. Inference needs the steps alone;
training and the evaluation of single steps also need their ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babywalk.assets.data_directory import StoredComponent, component
from babywalk.assets.r2r import walk_fields
from babywalk.common.array_files import check_range, checked_ragged, read_array
from babywalk.common.errors import DataError
from babywalk.common.ragged import Ragged, starts
from babywalk.episodes.task import Task
from babywalk.instructions.segmented import SegmentedTexts


@dataclass(frozen=True, slots=True)
class BabyStep:
    """One short instruction and the part of the path it describes.

    Neighbouring steps share a viewpoint: where one ends, the next begins.
    """

    text: str
    path: tuple[str, ...]  # viewpoint ids, never empty


@dataclass(frozen=True, slots=True, eq=False)
class BabySteps:
    """The steps of every episode of a task. Shapes: E episodes."""

    task: Task
    segmented: SegmentedTexts
    sentences: Ragged  # E rows: the number of sentences of each step
    ends: Ragged | None = None  # E rows: the position on the path where each step ends; None: not aligned

    def __len__(self) -> int:
        return len(self.sentences)

    @property
    def mean(self) -> float:
        """Steps per episode."""
        return len(self.sentences.values) / max(1, len(self))

    @property
    def known_ends(self) -> Ragged:
        """`ends`, or an error where the steps are not aligned."""
        if self.ends is None:
            raise DataError("These Baby-Steps are not aligned with paths. Run 'babywalk data align'.")
        return self.ends

    @property
    def characters(self) -> Ragged:
        """E rows: the length of each step."""
        rows = self.segmented.of_episodes(self.task, np.arange(len(self)))
        length = np.append(0, np.cumsum(self.segmented.table.length[rows.values]))
        bounds = length[starts(self.sentences.values)]
        return Ragged(np.diff(bounds).astype(np.int32), self.sentences.start)

    def joined(self, sentences: Ragged) -> BabySteps:
        """Larger steps with the given numbers of sentences (E rows); each ends where one of these does."""
        bounds, joined = np.cumsum(self.sentences.values), np.cumsum(sentences.values)
        ends = Ragged(self.known_ends.values[np.searchsorted(bounds, joined)], sentences.start)
        return replace(self, sentences=sentences, ends=ends)

    def texts(self, episode: int) -> list[str]:
        """The text of each step of one episode, as in its instruction."""
        numbers = self.segmented.of_episodes(self.task, np.array([episode])).values.tolist()
        words = [self.segmented.words_of(number, self.task.walks.texts) for number in numbers]
        bounds = np.append(0, self.sentences[episode].cumsum()).tolist()
        return [" ".join(words[begin:end]) for begin, end in pairwise(bounds)]

    def steps(self, episode: int) -> list[BabyStep]:
        """The steps of one episode with their parts of the path."""
        path = self.task[episode].path
        ends = self.known_ends[episode].tolist()
        return [
            BabyStep(text, path[begin : end + 1])
            for text, begin, end in zip(self.texts(episode), [0, *ends[:-1]], ends, strict=True)
        ]

    def __iter__(self) -> Iterator[list[BabyStep]]:
        return (self.steps(episode) for episode in range(len(self)))


def walks_with_steps(steps: BabySteps) -> Iterator[dict[str, Any]]:
    """Walks in R2R's JSON format with the Baby-Steps of each instruction.

    `sub_instructions[i][m]` is step m of instruction i, `sub_paths[i][m]` its viewpoints, `headings[i][m]`
    the heading in radians at its start, after the first step that of a view (a multiple of 30 degrees).
    """
    task, episode = steps.task, 0
    chains = task.chain_of(np.arange(len(task)))
    for walk in task.as_walks():
        fields = {**walk_fields(walk), "sub_instructions": [], "sub_paths": [], "headings": []}
        for _ in walk.instructions:
            found = steps.steps(episode)
            fields["sub_instructions"].append([step.text for step in found])
            fields["sub_paths"].append([list(step.path) for step in found])
            places = np.array([0, *steps.known_ends[episode][:-1]])
            headings = task.start_headings(np.repeat(chains[episode], len(places)), places)
            fields["headings"].append(headings.tolist())
            episode += 1
        yield fields


def save_babysteps(
    folder: Path, steps: BabySteps, *, facts: Mapping[str, object], notes: Sequence[str] = ()
) -> None:
    """Write the steps of a task as a component of a data directory."""
    with component(
        folder, f"Baby-Steps of {steps.task.name} {steps.task.split}", notes=notes, details=facts
    ) as draft:
        np.save(draft.folder / "start.npy", steps.sentences.start)
        np.save(draft.folder / "sentences.npy", steps.sentences.values.astype(np.int16))
        if steps.ends is not None:
            np.save(draft.folder / "ends.npy", steps.ends.values.astype(np.int16))


def load_babysteps(stored: StoredComponent, task: Task, segmented: SegmentedTexts) -> BabySteps:
    """Read what `save_babysteps` wrote."""
    with stored.reading("start.npy") as file:
        start = read_array(file, "i", (None,))
        if len(start) != len(task) + 1:
            raise DataError(f"{file}: has the steps of {len(start) - 1:,} episodes instead of {len(task):,}.")
    with stored.reading("sentences.npy") as file:
        sentences = checked_ragged(file, "steps", read_array(file, "i", (None,)), start)
        episodes = np.arange(len(task))
        expected = segmented.of_episodes(task, episodes).lengths
        check_range(file, "sentences per step", sentences.values, 1, expected.max(initial=0) + 1)
        if (_sums(sentences) != expected).any():
            raise DataError(f"{file}: the steps do not have as many sentences as their instructions.")
    if not stored.has("ends.npy"):
        return BabySteps(task, segmented, sentences)
    with stored.reading("ends.npy") as file:
        ends = checked_ragged(file, "steps", read_array(file, "i", (None,)), start)
        states = np.repeat(task.paths.lengths[task.chain_of(episodes)], ends.lengths)
        if (ends.values < 0).any() or (ends.values >= states).any():
            raise DataError(f"{file}: a step ends outside of its path.")
    return BabySteps(task, segmented, sentences, ends)


def _sums(rows: Ragged) -> NDArray[np.int64]:
    """(R,) the sum of each row."""
    total: NDArray[np.int64] = np.append(0, np.cumsum(rows.values, dtype=np.int64))[rows.start]
    return np.diff(total)
